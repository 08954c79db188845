import type { JSX } from "preact";
import { formatCount, formatDuration, formatDurationBeside, formatPlural, formatShare } from "../../base/format";
import { kindColor, type Palette } from "../../base/palette";
import type { DeviceTime, KernelTime, KindTime, OperatorTime, Summary } from "../../source/protocol";
import type { Range } from "../range";
import type { Timeline } from "../timeline";
import { useCell } from "./hooks";
import { Icon } from "./icons";
import { PartChoice } from "./part-choice";
import { type RankColumn, RankTable } from "./rank-table";

interface Props {
  readonly timeline: Timeline;
  readonly palette: Palette;
  readonly range: Range;
  readonly summary: Summary;
}

/** Busy time of devices, and time by kind, kernel and operator. */
export function RangeSummary({ timeline, palette, range, summary }: Props): JSX.Element {
  const visit = (id: number) => timeline.go(id);
  const part = useCell(range.part);
  if (summary.num_events === 0) {
    return (
      <>
        <PartChoice timeline={timeline} range={range} chosen={part} />
        <p class="ks-note">No events in this range.</p>
      </>
    );
  }
  return (
    <div class="ks-columns">
      <div class="ks-column">
        <PartChoice timeline={timeline} range={range} chosen={part} />
        {summary.devices.map((device) => (
          <Busy key={device.device} device={device} palette={palette} />
        ))}
        <h4>time by kind</h4>
        <RankTable rows={summary.time_by_kind} columns={kindColumns(palette, summary)} />
      </div>
      {summary.kernels.length > 0 && (
        <div class="ks-column ks-wide">
          <h4>{topOf(summary.kernels.length, summary.num_kernels, "kernel")}</h4>
          <RankTable rows={summary.kernels} columns={KERNEL_COLUMNS} labels={summary.labels} visit={visit} />
        </div>
      )}
      {summary.operators.length > 0 && (
        <div class="ks-column ks-wide">
          <h4>{topOf(summary.operators.length, summary.num_operators, "operator")}</h4>
          <RankTable
            rows={summary.operators}
            columns={operatorColumns(summary)}
            labels={summary.labels}
            visit={visit}
          />
        </div>
      )}
    </div>
  );
}

const topOf = (shown: number, all: number, noun: string): string =>
  shown < all ? `top ${shown} of ${formatPlural(all, noun)}` : formatPlural(all, noun);

function Busy({ device, palette }: { device: DeviceTime; palette: Palette }): JSX.Element {
  const name = device.name || (device.device === null ? "device" : `device ${device.device}`);
  return (
    <div class="ks-busy">
      <Icon name="device" />
      <span title={name}>{name}</span>
      <b>
        {formatShare(device.busy_share, 1)} busy
        {device.unknown_share > 0 && <small> {formatShare(device.unknown_share, 1)} unknown</small>}
      </b>
      <div class="ks-meter">
        <i style={{ width: `${100 * device.busy_share}%`, background: kindColor(palette, "kernel") }} />
      </div>
    </div>
  );
}

function kindColumns(palette: Palette, summary: Summary): readonly RankColumn<KindTime>[] {
  const most = Math.max(1, ...summary.time_by_kind.map((row) => row.self_ns));
  return [
    { title: "kind", cell: (row) => row.kind },
    { title: "count", cell: (row) => formatCount(row.count), isNumber: true },
    { title: "self", cell: (row) => formatDuration(row.self_ns), isNumber: true },
    {
      title: "",
      cell: (row) => (
        <i style={{ width: `${(100 * row.self_ns) / most}%`, background: kindColor(palette, row.kind) }} />
      ),
      isBar: true,
    },
  ];
}

const KERNEL_COLUMNS: readonly RankColumn<KernelTime>[] = [
  { title: "name", cell: (row) => row.name, isName: true },
  { title: "count", cell: (row) => formatCount(row.count), isNumber: true },
  { title: "mean", cell: (row) => formatDurationBeside(row.mean_ns, row.total_ns), isNumber: true, isExtra: true },
  { title: "longest", cell: (row) => formatDurationBeside(row.max_ns, row.total_ns), isNumber: true, isExtra: true },
  { title: "total", cell: (row) => formatDuration(row.total_ns), isNumber: true },
  { title: "share", cell: (row) => formatShare(row.share, 1), isNumber: true },
];

function operatorColumns({ operators }: Summary): readonly RankColumn<OperatorTime>[] {
  const onHost: RankColumn<OperatorTime>[] = [
    { title: "name", cell: (row) => row.name, isName: true },
    { title: "count", cell: (row) => formatCount(row.count), isNumber: true },
    { title: "self", cell: (row) => beside(row.self_ns, row), isNumber: true, isExtra: true },
    { title: "total", cell: (row) => beside(row.total_ns, row), isNumber: true },
  ];
  if (operators.every((row) => row.device_total_ns === 0)) return onHost;
  const device = (row: OperatorTime) => (row.device_total_ns === null ? "unknown" : beside(row.device_total_ns, row));
  return [...onHost, { title: "device", cell: device, isNumber: true }];
}

/** In the unit of the row. */
const beside = (ns: number, { total_ns: total, device_total_ns: device }: OperatorTime): string =>
  formatDurationBeside(ns, Math.max(total, device ?? 0));
