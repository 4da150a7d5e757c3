/** The nodes that differ between two models, as a table; a row shows its node in both graphs. */
import { useState } from 'preact/hooks';
import { type ColumnSpec, DataTable } from '../parts/data-table.js';
import { NameCell } from '../parts/name-cell.js';
import { Empty } from '../parts/notice.js';
import { plainText } from '../parts/text.js';
import type { ChangeKind, ModelDiff, NodeChange } from './model-diff.js';

interface ListProps {
  readonly diff: ModelDiff;
  readonly picked: string | undefined;
  readonly pick: (change: NodeChange) => void;
}

const KINDS: readonly ChangeKind[] = ['added', 'removed', 'changed'];

export function ChangeList({ diff: { changes }, picked, pick }: ListProps) {
  const [kind, setKind] = useState<ChangeKind>();
  if (changes.length === 0) return <Empty>Both models have the same nodes with the same attributes, inputs and types.</Empty>;
  const shown = kind === undefined ? changes : changes.filter(one => one.kind === kind);
  return (
    <section>
      <h2>What changed</h2>
      <div class="tools">
        <fieldset class="choice">
          <legend class="sr">Kind of change</legend>
          <button type="button" aria-pressed={kind === undefined} onClick={() => setKind(undefined)}>
            all {changes.length}
          </button>
          {KINDS.map(one => (
            <button type="button" key={one} aria-pressed={kind === one} onClick={() => setKind(one)}>
              {one} {changes.filter(change => change.kind === one).length}
            </button>
          ))}
        </fieldset>
      </div>
      <DataTable
        label="Changed nodes"
        rows={shown}
        columns={COLUMNS}
        keyOf={({ kind: own, id }) => `${own} ${id}`}
        picked={shown.find(({ id, partner }) => id === picked || partner === picked)?.id}
        pick={pick}
        visibleRows={10}
      />
    </section>
  );
}

const COLUMNS: readonly ColumnSpec<NodeChange>[] = [
  { name: 'node', title: 'Node', rank: ({ id }) => id, cell: ({ id }) => <NameCell name={id} /> },
  { name: 'op', title: 'Operator', rank: ({ op }) => op, cell: ({ op }) => op },
  { name: 'kind', title: 'Change', rank: ({ kind }) => kind, cell: ({ kind }) => <span class={`change-${kind}`}>{kind}</span> },
  { name: 'what', title: 'What', rank: ({ what }) => what, cell: ({ what }) => <span class="soft one-line">{plainText(what)}</span> },
];
