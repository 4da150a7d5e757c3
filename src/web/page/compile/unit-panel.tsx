/** One unit: where it runs, what it is estimated to cost, and its other views. */
import { formatBytes } from '../../../base/text/format.js';
import { formatCount, formatNumber } from '../../../report/numbers.js';
import type { StageRow } from '../../../report/views/pipeline-data.js';
import { Link } from '../parts/link.js';
import { Panel } from '../parts/panel.js';
import { plainText } from '../parts/text.js';
import { wordsOfBound } from './bounds.js';
import type { Unit } from './compile-report.js';

interface PanelProps {
  readonly unit: Unit;
  /** The artifact that was compiled; undefined for a source. */
  readonly source: ModelSource | undefined;
  readonly close: () => void;
}

export interface ModelSource {
  readonly stage: StageRow;
  readonly port: string;
}

export function UnitPanel({ unit, source, close }: PanelProps) {
  const { name, opType, activation, device, edge, part, outputs, nodes, macs, weightBytes, inputBytes, outputBytes, estimate, callMs } =
    unit;
  const [output] = outputs;
  const facts: readonly (readonly [string, string | undefined])[] = [
    ['Device', edge ? 'edge of an NPU part, on the host' : device.toUpperCase()],
    ['Part', String(part)],
    ['Output', output === undefined ? undefined : `${output.dtype} [${output.dims.join(', ')}]`],
    ['Multiply-accumulates', macs === 0 ? undefined : formatCount(macs)],
    ['Weights', formatBytes(weightBytes)],
    ['Read and written', formatBytes(inputBytes + outputBytes)],
    [
      'Estimate',
      estimate === undefined
        ? undefined
        : `${formatNumber(estimate.ms)} ms (${formatNumber(estimate.lowMs)} … ${formatNumber(estimate.highMs)}), bound by ${wordsOfBound(unit)}`,
    ],
    ['Share of a call, estimated', callMs === undefined ? undefined : `${formatNumber(callMs)} ms`],
  ];
  return (
    <Panel what="unit" name={name} title={plainText(name)} close={close}>
      <p class="soft">{activation === undefined ? opType : `${opType} + ${activation}`}</p>
      {source !== undefined && (
        <OtherViews node={nodes.find(one => one === output?.name) ?? nodes[0] ?? name} name={name} source={source} />
      )}
      <dl class="facts">
        {facts.map(
          ([term, fact]) =>
            fact !== undefined && (
              <div key={term}>
                <dt>{term}</dt>
                <dd>{plainText(fact)}</dd>
              </div>
            ),
        )}
      </dl>
      <Reasons unit={unit} />
    </Panel>
  );
}

/** The graph, the range and errors of its value, and the values themselves. */
function OtherViews({
  node,
  name,
  source: { stage, port },
}: {
  readonly node: string;
  readonly name: string;
  readonly source: ModelSource;
}) {
  return (
    <p class="buttons">
      <Link view="model" query={{ stage: stage.id, port, node: name }}>
        in the model
      </Link>
      {stage.plugin === 'quantize' && (
        <Link view="quantization" query={{ stage: stage.id, node: name }}>
          its range and errors
        </Link>
      )}
      <Link view="tensor" query={{ stage: stage.id, port, value: node }}>
        its values
      </Link>
    </p>
  );
}

function Reasons({ unit: { findings, demoted } }: Pick<PanelProps, 'unit'>) {
  const reasons = [...(demoted === undefined ? [] : [demoted]), ...findings.map(({ message }) => message)];
  if (reasons.length === 0) return null;
  return (
    <ul>
      {reasons.map(reason => (
        <li key={reason}>{plainText(reason)}</li>
      ))}
    </ul>
  );
}
