/** The view "Model": the graph of any ONNX artifact with search, scopes that open, attributes, shapes and statistics of weights. */
import { useMemo, useState } from 'preact/hooks';
import type { ModelView } from '../../../onnx/describe/model-view.js';
import { formatCount, formatNumber } from '../../../report/numbers.js';
import type { StageRow } from '../../../report/views/pipeline-data.js';
import { address } from '../api/client.js';
import { setQuery, usePlace } from '../api/router.js';
import { useData } from '../api/use-data.js';
import { Empty, OutOfDate, Waiting } from '../parts/notice.js';
import { Select } from '../parts/select.js';
import { plainText } from '../parts/text.js';
import { View } from '../parts/view.js';
import type { ViewProps } from '../parts/view-props.js';
import { collapse, openScopes, scopeModel, scopesToOpen } from './collapse.js';
import { type ColorBy, ModelGraph } from './model-graph.js';
import { NodePanel } from './node-panel.js';

interface ModelArtifact {
  readonly stage: StageRow;
  readonly port: string;
  readonly digest: string | undefined;
}

export function ModelPage({ pipeline }: ViewProps) {
  const { query } = usePlace();
  const artifacts = pipeline.stages.flatMap(stage =>
    stage.outputs.flatMap(({ port, kind, digest, absent }): readonly ModelArtifact[] =>
      kind === 'onnx-model' && stage.built && absent !== true ? [{ stage, port, digest }] : [],
    ),
  );
  const chosen =
    artifacts.find(({ stage, port }) => stage.id === query.stage && port === query.port) ??
    artifacts.find(({ stage }) => stage.id === query.stage) ??
    artifacts[0];
  if (chosen === undefined)
    return (
      <Empty>
        {pipeline.project.access === 'saved'
          ? 'This page holds no models. Connect them to the port “models” of the report stage.'
          : 'No built stage has a model. Run the pipeline to see its graphs.'}
      </Empty>
    );
  const keyOf = ({ stage, port }: ModelArtifact): string => `${stage.id}.${port}`;
  return (
    <View
      title="Model"
      tools={
        <>
          <Select
            label="Artifact"
            value={keyOf(chosen)}
            choices={artifacts.map(keyOf)}
            pick={key => {
              const next = artifacts.find(one => keyOf(one) === key);
              setQuery({ stage: next?.stage.id, port: next?.port, node: undefined });
            }}
          />
          <OutOfDate stage={chosen.stage} />
        </>
      }
    >
      <LoadedModel key={keyOf(chosen)} artifact={chosen} stages={pipeline.stages} />
    </View>
  );
}

const COLORS: readonly (readonly [ColorBy, string])[] = [
  ['operator', 'operator'],
  ['macs', 'MACs'],
  ['dtype', 'data type'],
];

/** Boxes of the first sight. */
const FIRST_BOXES = 80;

function LoadedModel({
  artifact: { stage, port, digest },
  stages,
}: {
  readonly artifact: ModelArtifact;
  readonly stages: readonly StageRow[];
}) {
  const { query } = usePlace();
  const { data, error } = useData<ModelView>(address('model', { stage: stage.id, port, v: digest?.slice(0, 16) }), 'once');
  if (data === undefined) return <Waiting error={error} what="the model" />;
  return <ModelExplorer key={digest} model={data} picked={query.node} stage={stage} stages={stages} />;
}

interface ExplorerProps {
  readonly model: ModelView;
  readonly picked: string | undefined;
  readonly stage: StageRow;
  readonly stages: readonly StageRow[];
}

function ModelExplorer({ model, picked, stage, stages }: ExplorerProps) {
  const scoped = useMemo(() => scopeModel(model), [model]);
  const [open, setOpen] = useState<ReadonlySet<string>>(
    () => new Set([...openScopes(scoped, FIRST_BOXES), ...scopesToOpen(scoped, findNode(model, picked) ?? '')]),
  );
  const [color, setColor] = useState<ColorBy>('operator');
  const graph = useMemo(() => collapse(scoped, open), [scoped, open]);
  const node = findNode(model, picked);
  const all = new Set([...scoped.scopesOf.values()].flat());
  const show = (id: string): void => {
    setOpen(new Set([...open, ...scopesToOpen(scoped, id)]));
    setQuery({ node: id }, 'replace');
  };
  const toggle = (scope: string): void =>
    setOpen(open.has(scope) ? new Set([...open].filter(one => one !== scope && !one.startsWith(`${scope}/`))) : new Set([...open, scope]));
  return (
    <>
      <p class="soft">
        {formatCount(model.nodes.length)} nodes, {formatNumber(model.parameters)} parameters, {formatNumber(model.macs)} MAC; opset{' '}
        {Object.entries(model.opsets)
          .map(([domain, version]) => `${domain} ${version}`)
          .join(', ')}
        {model.producer !== '' && `; written by ${plainText(model.producer)}`}. {graph.boxes.length} boxes are drawn.
      </p>
      <div class="tools">
        <Search model={model} show={show} />
        <Select
          label="Color"
          value={color}
          choices={COLORS}
          pick={name => setColor(COLORS.find(([one]) => one === name)?.[0] ?? 'operator')}
        />
        {open.size < all.size && (
          <button type="button" onClick={() => setOpen(all)}>
            Open all
          </button>
        )}
        {open.size > 0 && (
          <button type="button" onClick={() => setOpen(new Set())}>
            Close all
          </button>
        )}
      </div>
      <div class={node === undefined ? '' : 'view split'}>
        <div class="main-column">
          <ModelGraph
            graph={graph}
            model={model}
            color={color}
            picked={node}
            pick={id => setQuery({ node: id === node ? undefined : id }, 'replace')}
            toggle={toggle}
          />
          {open.size > 0 && <OpenScopes open={open} close={toggle} />}
        </div>
        {node !== undefined && (
          <NodePanel
            key={node}
            model={model}
            id={node}
            show={show}
            stage={stage}
            stages={stages}
            close={() => setQuery({ node: undefined }, 'replace')}
          />
        )}
      </div>
    </>
  );
}

/** A node by its id, or by the name of one of its outputs. */
function findNode({ nodes }: ModelView, wanted: string | undefined): string | undefined {
  if (wanted === undefined) return undefined;
  return (nodes.find(({ id }) => id === wanted) ?? nodes.find(({ outputs }) => outputs.includes(wanted)))?.id;
}

function OpenScopes({ open, close }: { readonly open: ReadonlySet<string>; readonly close: (scope: string) => void }) {
  return (
    <details class="scopes">
      <summary>{open.size} scopes are open; click one to close it</summary>
      <p>
        {[...open].sort().map(scope => (
          <button type="button" class="quiet" key={scope} onClick={() => close(scope)}>
            {plainText(scope)} ✕
          </button>
        ))}
      </p>
    </details>
  );
}

const MOST_FOUND = 30;

function Search({ model, show }: { readonly model: ModelView; readonly show: (id: string) => void }) {
  const [text, setText] = useState('');
  const wanted = text.trim().toLowerCase();
  const found = useMemo(
    () =>
      wanted === '' ? [] : model.nodes.filter(({ id, op, outputs }) => `${id} ${op} ${outputs.join(' ')}`.toLowerCase().includes(wanted)),
    [model, wanted],
  );
  return (
    <div class="search">
      <label>
        <span class="sr">Search nodes and values</span>
        <input
          type="search"
          placeholder="search a node, value or operator"
          value={text}
          onInput={event => setText(event.currentTarget.value)}
          onKeyDown={event => {
            if (event.key === 'Enter' && found[0] !== undefined) show(found[0].id);
            if (event.key === 'Escape') setText('');
          }}
        />
      </label>
      {wanted !== '' && (
        <ul class="found">
          {found.length === 0 && <li class="soft">nothing has this name</li>}
          {found.slice(0, MOST_FOUND).map(({ id, op }) => (
            <li key={id}>
              <button
                type="button"
                class="as-link"
                onClick={() => {
                  show(id);
                  setText('');
                }}
              >
                {plainText(id)}
              </button>{' '}
              <span class="soft">{op}</span>
            </li>
          ))}
          {found.length > MOST_FOUND && <li class="soft">and {found.length - MOST_FOUND} more</li>}
        </ul>
      )}
    </div>
  );
}
