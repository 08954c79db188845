import type { LaneBox } from "./scene";

/**
 * Bars as pixels: one line per lane, scaled to the lane's height. A screen of narrow bars has a
 * hundred thousand rectangles: a canvas takes 100 ms for them, an array 1 ms.
 */
export class Strip {
  readonly #canvas = document.createElement("canvas");
  #pixels = new Uint32Array(0);
  #width = 0;
  #boxes: LaneBox[] = [];

  /** Clears it, for bars up to `width` device pixels. */
  begin(width: number): void {
    this.#pixels.fill(0, 0, this.#width * this.#boxes.length);
    this.#boxes = [];
    this.#width = width;
  }

  /** Adds a line for the lane at `box`. Returns its index, for `fill`. */
  line(box: LaneBox): number {
    this.#boxes.push(box);
    const size = this.#boxes.length * this.#width;
    if (this.#pixels.length < size) {
      const larger = new Uint32Array(2 * size);
      larger.set(this.#pixels);
      this.#pixels = larger;
    }
    return size - this.#width;
  }

  /** Colours a bar of a line. The caller must clip it to the picture. */
  fill(line: number, left: number, right: number, color: number): void {
    const pixels = this.#pixels;
    for (let x = line + left; x < line + right; x++) pixels[x] = color;
  }

  draw(context: CanvasRenderingContext2D): void {
    const height = this.#boxes.length;
    const width = this.#width;
    if (height === 0 || width === 0) return;
    const own = this.#fitted(width, height);
    if (!own) return;
    own.putImageData(
      new ImageData(new Uint8ClampedArray(this.#pixels.buffer, 0, 4 * width * height), width, height),
      0,
      0,
    );
    context.imageSmoothingEnabled = false;
    for (const [line, box] of this.#boxes.entries()) {
      context.drawImage(this.#canvas, 0, line, width, 1, 0, box.y, width, box.height);
    }
  }

  #fitted(width: number, height: number): CanvasRenderingContext2D | null {
    const canvas = this.#canvas;
    if (canvas.width !== width) canvas.width = width;
    if (canvas.height < height) canvas.height = height;
    return canvas.getContext("2d");
  }
}
