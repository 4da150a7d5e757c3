/** A model's graph with the scopes that are open. */
import { useMemo, useState } from 'preact/hooks';
import type { ModelView } from '../../../onnx/describe/model-view.js';
import { collapse, openScopes, scopeModel, scopesToOpen } from './collapse.js';

/** Most boxes that are open at first. */
const FIRST_BOXES = 80;

/** A model with the scopes that are open. */
export function useScopes(model: ModelView, picked: string | undefined) {
  const scoped = useMemo(() => scopeModel(model), [model]);
  const [open, setOpen] = useState<ReadonlySet<string>>(
    () => new Set([...openScopes(scoped, FIRST_BOXES), ...scopesToOpen(scoped, findNode(model, picked) ?? '')]),
  );
  const graph = useMemo(() => collapse(scoped, open), [scoped, open]);
  return {
    open,
    graph,
    all: new Set([...scoped.scopesOf.values()].flat()),
    setOpen,
    reveal: (id: string) => setOpen(now => new Set([...now, ...scopesToOpen(scoped, id)])),
    toggle: (scope: string) =>
      setOpen(now =>
        now.has(scope) ? new Set([...now].filter(one => one !== scope && !one.startsWith(`${scope}/`))) : new Set([...now, scope]),
      ),
  };
}

/** A node by its id, or by the name of one of its outputs. */
export function findNode({ nodes }: ModelView, wanted: string | undefined): string | undefined {
  if (wanted === undefined) return undefined;
  return (nodes.find(({ id }) => id === wanted) ?? nodes.find(({ outputs }) => outputs.includes(wanted)))?.id;
}
