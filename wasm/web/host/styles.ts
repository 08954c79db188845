import details from "../timeline/style/details.css";
import flame from "../timeline/style/flame.css";
import picture from "../timeline/style/picture.css";
import popup from "../timeline/style/popup.css";
import root from "../timeline/style/root.css";
import table from "../timeline/style/table.css";
import toolbar from "../timeline/style/toolbar.css";
import strip from "./strip.css";

/** The timeline's style sheets, as text. */
export const STYLES: readonly string[] = [root, toolbar, picture, flame, details, table, popup, strip];
