/** A model as a graph with colors, search and scopes that open; beside it the model before, and what changed. */
import { useEffect, useMemo } from 'preact/hooks';
import type { ModelView } from '../../../onnx/describe/model-view.js';
import { formatCount } from '../../../report/numbers.js';
import type { StageRow } from '../../../report/views/pipeline-data.js';
import { setQuery, usePlace } from '../api/router.js';
import { Select } from '../parts/select.js';
import { plainText } from '../parts/text.js';
import { type ColorBy, makeLook } from './box-look.js';
import { ChangeList } from './change-list.js';
import type { CollapsedGraph } from './collapse.js';
import { keyOf, type ModelArtifact } from './model-artifact.js';
import { compareModels, type ModelDiff } from './model-diff.js';
import { ModelGraph } from './model-graph.js';
import { type NodeFacts, useNodeFacts } from './node-facts.js';
import { NodePanel } from './node-panel.js';
import { NodeSearch } from './node-search.js';
import { findNode, useScopes } from './use-scopes.js';

interface ExplorerProps {
  readonly model: ModelView;
  readonly before: { readonly artifact: ModelArtifact; readonly model: ModelView } | undefined;
  readonly picked: string | undefined;
  readonly artifact: ModelArtifact;
  readonly stages: readonly StageRow[];
}

export function ModelExplorer({ model, before, picked, artifact, stages }: ExplorerProps) {
  const { query } = usePlace();
  const scopes = useScopes(model, before?.model, picked);
  const facts = useNodeFacts({ stage: artifact.stage.id, port: artifact.port }, stages);
  const diff = useMemo(() => (before === undefined ? undefined : compareModels(before.model, model)), [before?.model, model]);
  const color = COLORS.find(([name]) => name === query.color)?.[0] ?? (before === undefined ? 'operator' : 'change');
  const { open, setOpen, graph, graphBefore, all, toggle } = scopes;
  const node = findNode(model, picked);
  const show = (id: string): void => {
    scopes.reveal(id);
    setQuery({ node: id }, 'replace');
  };
  const pick = (id: string): void => setQuery({ node: id === picked ? undefined : id }, 'replace');
  return (
    <>
      <p class="soft">
        {formatCount(model.nodes.length)} nodes, {formatCount(model.parameters)} parameters,{' '}
        {model.macs === null ? 'MACs unknown' : `${formatCount(model.macs)} MAC`}; opset{' '}
        {Object.entries(model.opsets)
          .map(([domain, version]) => `${domain} ${version}`)
          .join(', ')}
        {model.producer !== '' && `; written by ${plainText(model.producer)}`}. {graph.boxes.length} boxes are drawn.
      </p>
      <div class="tools">
        <NodeSearch model={model} show={show} />
        <Select
          label="Color"
          value={color}
          choices={COLORS.filter(([name]) => name !== 'change' || diff !== undefined)}
          pick={name => setQuery({ color: name }, 'replace')}
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
        <MissingFacts color={color} facts={facts} />
      </div>
      <div class={node === undefined ? '' : 'view split'}>
        <div class="main-column">
          <div class={before === undefined ? '' : 'two-graphs'}>
            {before !== undefined && diff !== undefined && graphBefore !== undefined && (
              <BeforeGraph
                {...{ before, graph: graphBefore, diff, color, picked, pick, stages, toggle }}
                reveal={id => scopes.reveal(undefined, id)}
              />
            )}
            <figure class="model-figure">
              {before !== undefined && <figcaption>After: {keyOf(artifact)}</figcaption>}
              <ModelGraph
                graph={graph}
                {...(before === undefined ? {} : { name: 'after' })}
                lookOf={makeLook(model, color, facts, diff?.after)}
                picked={node}
                pick={pick}
                toggle={toggle}
              />
            </figure>
          </div>
          {diff !== undefined && <ChangeList diff={diff} picked={picked} pick={change => show(change.partner ?? change.id)} />}
          {open.size > 0 && <OpenScopes open={open} close={toggle} />}
        </div>
        {node !== undefined && (
          <NodePanel
            key={node}
            model={model}
            id={node}
            show={show}
            facts={facts}
            stage={artifact.stage}
            stages={stages}
            close={() => setQuery({ node: undefined }, 'replace')}
          />
        )}
      </div>
    </>
  );
}

interface BeforeProps {
  readonly before: NonNullable<ExplorerProps['before']>;
  readonly graph: CollapsedGraph;
  readonly diff: ModelDiff;
  readonly color: ColorBy;
  readonly picked: string | undefined;
  readonly pick: (id: string) => void;
  readonly stages: readonly StageRow[];
  readonly toggle: (scope: string) => void;
  readonly reveal: (node: string) => void;
}

/** The model before, beside the model after: the same node is picked in both. */
function BeforeGraph({ before: { artifact, model }, graph, diff, color, picked, pick, stages, toggle, reveal }: BeforeProps) {
  const own = picked === undefined ? undefined : ([...diff.partners].find(([, partner]) => partner === picked)?.[0] ?? picked);
  const facts = useNodeFacts({ stage: artifact.stage.id, port: artifact.port }, stages);
  const node = findNode(model, own);
  useEffect(() => {
    if (node !== undefined) reveal(node);
  }, [node]);
  return (
    <figure class="model-figure">
      <figcaption>Before: {keyOf(artifact)}</figcaption>
      <ModelGraph
        graph={graph}
        name="before"
        lookOf={makeLook(model, color, facts, diff.before)}
        picked={node}
        pick={id => pick(diff.partners.get(id) ?? id)}
        toggle={toggle}
      />
    </figure>
  );
}

const COLORS: readonly (readonly [ColorBy, string])[] = [
  ['operator', 'operator'],
  ['change', 'change'],
  ['device', 'device'],
  ['error', 'error'],
  ['time', 'time'],
  ['macs', 'MACs'],
  ['dtype', 'data type'],
];

function MissingFacts({ color, facts }: { readonly color: ColorBy; readonly facts: NodeFacts }) {
  if (color === 'error' && facts.sqnrOf === undefined)
    return <span class="soft">Errors need a “verify” stage with values: all that reads this model as its candidate.</span>;
  if ((color === 'device' || color === 'time') && facts.unitOf === undefined)
    return <span class="soft">Devices and times need a “compile” stage that reads this model.</span>;
  return null;
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
