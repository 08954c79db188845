import type { JSX } from "preact";
import type { NodeValue, TraceNode } from "../../source/protocol";

/** Inputs and outputs of an operator, from its node in the Execution Trace. */
export function NodeTable({ node }: { node: TraceNode }): JSX.Element {
  return (
    <>
      <h4>
        Execution Trace node {node.node_id} · {node.name}
      </h4>
      {node.schema && <code class="ks-schema">{node.schema}</code>}
      {node.inputs.length + node.outputs.length > 0 && <Values node={node} />}
    </>
  );
}

function Values({ node }: { node: TraceNode }): JSX.Element {
  return (
    <table class="ks-table ks-values">
      <thead>
        <tr>
          <th />
          <th>shape</th>
          <th>type</th>
          <th>stride</th>
          <th>value</th>
        </tr>
      </thead>
      <tbody>
        {rows("in", node.inputs)}
        {rows("out", node.outputs)}
      </tbody>
    </table>
  );
}

function rows(direction: string, values: readonly NodeValue[]): JSX.Element[] {
  return values.map((value, index) => (
    <tr key={`${direction}${String(index)}`}>
      <th scope="row">
        {direction} {index}
      </th>
      <td>{value.shape}</td>
      <td>{value.type}</td>
      <td>{value.stride}</td>
      <td>{value.value}</td>
    </tr>
  ));
}
