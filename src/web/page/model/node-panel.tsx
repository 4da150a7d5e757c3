/** One node: attributes, inputs and outputs with shapes, statistics of its weights, and links to its neighbors and other views. */
import { formatBytes } from '../../../base/text/format.js';
import type { ModelView, NodeView, ValueView } from '../../../onnx/describe/model-view.js';
import { formatCount, formatDb, formatNumber } from '../../../report/numbers.js';
import type { StageRow } from '../../../report/views/pipeline-data.js';
import { Link } from '../parts/link.js';
import { Empty } from '../parts/notice.js';
import { Panel } from '../parts/panel.js';
import { Scroll } from '../parts/scroll.js';
import { plainText } from '../parts/text.js';
import type { NodeFacts } from './node-facts.js';
import { quantizedValueOf } from './quantized-value.js';

interface PanelProps {
  readonly model: ModelView;
  readonly id: string;
  readonly show: (id: string) => void;
  readonly facts: NodeFacts;
  readonly stage: StageRow;
  readonly stages: readonly StageRow[];
  readonly close: () => void;
}

export function NodePanel({ model, id, show, facts, stage, stages, close }: PanelProps) {
  const node = model.nodes.find(one => one.id === id);
  if (node === undefined) return null;
  const attributes = Object.entries(node.attributes);
  const producer = (name: string): string | undefined => model.nodes.find(({ outputs }) => outputs.includes(name))?.id;
  const readers = (name: string): readonly string[] => model.nodes.filter(({ inputs }) => inputs.includes(name)).map(one => one.id);
  return (
    <Panel
      what="node"
      name={id}
      title={
        <>
          {node.op} <code>{plainText(id)}</code>
        </>
      }
      close={close}
    >
      <p class="soft">
        {node.macs === null ? 'MACs unknown' : `${formatCount(node.macs)} MAC`}, {formatCount(node.parameters)} parameters
        {describeFacts(node, facts).map(fact => `; ${fact}`)}
      </p>
      <OtherViews node={node} model={model} facts={facts} stage={stage} stages={stages} />
      <section>
        <h3>Attributes</h3>
        {attributes.length === 0 ? (
          <Empty>None.</Empty>
        ) : (
          <Scroll label="Attributes">
            <table class="narrow">
              <tbody>
                {attributes.map(([name, value]) => (
                  <tr key={name}>
                    <th scope="row">{name}</th>
                    <td>
                      <code>{plainText(value)}</code>
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
        )}
      </section>
      <Values
        title="Inputs"
        names={node.inputs}
        model={model}
        ends={name => [producer(name)].filter(one => one !== undefined)}
        show={show}
      />
      <Values title="Outputs" names={node.outputs} model={model} ends={readers} show={show} />
    </Panel>
  );
}

/** What the colors of the graph say, in words. */
function describeFacts({ outputs }: NodeView, { unitOf, sqnrOf }: NodeFacts): readonly string[] {
  const unit = unitOf?.get(outputs[0] ?? '');
  const db = outputs.flatMap(name => (name === null ? [] : (sqnrOf?.get(name) ?? [])))[0];
  return [
    ...(unit === undefined ? [] : [unit.device === 'edge' ? 'on the edge of an NPU part' : `on the ${unit.device}`]),
    ...(unit?.ms === undefined ? [] : [`${formatNumber(unit.ms)} ms estimated for its unit`]),
    ...(db === undefined ? [] : [db === Number.POSITIVE_INFINITY ? 'equal to the float value' : `error ${formatDb(db)} dB`]),
  ];
}

type OtherViewsProps = Pick<PanelProps, 'model' | 'facts' | 'stage' | 'stages'> & { readonly node: NodeView };

function OtherViews({ node, model, facts: { unitOf, compiled }, stage, stages }: OtherViewsProps) {
  const output = node.outputs[0] ?? undefined;
  const reader = ({ plugin, inputs, built }: StageRow): boolean =>
    plugin === 'quantize' && built && inputs.some(one => one.name === 'model' && one.stage === stage.id);
  const quantize = stage.plugin === 'quantize' ? stage : stages.find(reader);
  const value = quantizedValueOf(node, model);
  const unit = unitOf?.get(output ?? '');
  return (
    <p class="tools">
      {quantize !== undefined && value !== undefined && (
        <Link view="quantization" query={{ stage: quantize.id, value }}>
          its range and errors
        </Link>
      )}
      {compiled !== undefined && unit !== undefined && (
        <Link view="compile" query={{ stage: compiled.stage, model: compiled.model, unit: String(unit.id) }}>
          where it runs
        </Link>
      )}
      {output !== undefined && (
        <Link view="tensor" query={{ stage: stage.id, value: output }}>
          its values on a sample
        </Link>
      )}
    </p>
  );
}

interface ValuesProps {
  readonly title: string;
  readonly names: readonly (string | null)[];
  readonly model: ModelView;
  readonly ends: (name: string) => readonly string[];
  readonly show: (id: string) => void;
}

function Values({ title, names, model, ends, show }: ValuesProps) {
  return (
    <section>
      <h3>{title}</h3>
      <ul class="outputs">
        {names.map(
          (name, index) =>
            name !== null &&
            name !== '' && (
              <li key={`${index} ${name}`}>
                <code>{plainText(name)}</code> <span class="soft">{describeType(model.values[name])}</span>
                <Weight value={model.values[name]} />
                {ends(name).map(id => (
                  <div key={id}>
                    {title === 'Inputs' ? '← ' : '→ '}
                    <button type="button" class="as-link" onClick={() => show(id)}>
                      {plainText(id)}
                    </button>
                  </div>
                ))}
              </li>
            ),
        )}
      </ul>
    </section>
  );
}

function describeType(value: ValueView | undefined): string {
  return [value?.dtype, value?.shape].filter(text => text !== undefined).join(' ');
}

function Weight({ value }: { readonly value: ValueView | undefined }) {
  const constant = value?.constant;
  if (constant === undefined) return null;
  const { elements, bytes, min, max, mean, std } = constant;
  return (
    <div class="soft">
      {formatCount(elements)} elements{bytes > 0 && `, ${formatBytes(bytes)}`}
      {min !== undefined &&
        max !== undefined &&
        mean !== undefined &&
        std !== undefined &&
        `; ${formatNumber(min)} … ${formatNumber(max)}, mean ${formatNumber(mean)}, deviation ${formatNumber(std)}`}
    </div>
  );
}
