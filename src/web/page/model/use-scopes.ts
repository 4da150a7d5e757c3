/** The graph of a model with the scopes that are open, and that of the model before with the same ones. */
import { useEffect, useMemo, useState } from 'preact/hooks';
import type { ModelView } from '../../../onnx/describe/model-view.js';
import { type CollapsedGraph, collapse, openScopes, type ScopedModel, scopeModel, scopesToOpen } from './collapse.js';

/** Most boxes that are open at first. */
const FIRST_BOXES = 80;

export interface OpenScopes {
  readonly open: ReadonlySet<string>;
  /** Of both models. */
  readonly all: ReadonlySet<string>;
  readonly graph: CollapsedGraph;
  readonly graphBefore: CollapsedGraph | undefined;
  setOpen(scopes: ReadonlySet<string>): void;
  toggle(scope: string): void;
  /** Opens what contains the nodes. */
  reveal(node: string | undefined, nodeBefore?: string): void;
}

/** A scope is open in both models or in none. At first as many are open as fit into the model, and of those that only the model before has, as fit into that. */
export function useScopes(model: ModelView, before: ModelView | undefined, picked: string | undefined): OpenScopes {
  const scoped = useMemo(() => scopeModel(model), [model]);
  const scopedBefore = useMemo(() => (before === undefined ? undefined : scopeModel(before)), [before]);
  const [open, setOpen] = useState<ReadonlySet<string>>(
    () => new Set([...openScopes(scoped, FIRST_BOXES), ...scopesToOpen(scoped, findNode(model, picked) ?? '')]),
  );
  useEffect(() => {
    if (scopedBefore === undefined) return;
    const known = namesOf(scoped);
    const own = [...openScopes(scopedBefore, FIRST_BOXES)].filter(scope => !known.has(scope));
    if (own.length > 0) setOpen(now => new Set([...now, ...own]));
  }, [scopedBefore]);
  return {
    open,
    all: useMemo(() => new Set([...namesOf(scoped), ...(scopedBefore === undefined ? [] : namesOf(scopedBefore))]), [scoped, scopedBefore]),
    graph: useMemo(() => collapse(scoped, open), [scoped, open]),
    graphBefore: useMemo(() => (scopedBefore === undefined ? undefined : collapse(scopedBefore, open)), [scopedBefore, open]),
    setOpen,
    toggle: scope =>
      setOpen(now =>
        now.has(scope) ? new Set([...now].filter(one => one !== scope && !one.startsWith(`${scope}/`))) : new Set([...now, scope]),
      ),
    reveal(node, nodeBefore) {
      const around = [
        ...scopesToOpen(scoped, node ?? ''),
        ...(scopedBefore === undefined ? [] : scopesToOpen(scopedBefore, nodeBefore ?? '')),
      ];
      setOpen(now => (around.every(scope => now.has(scope)) ? now : new Set([...now, ...around])));
    },
  };
}

function namesOf({ scopesOf }: ScopedModel): ReadonlySet<string> {
  return new Set([...scopesOf.values()].flat());
}

/** A node by its id, or by the name of one of its outputs. */
export function findNode({ nodes }: ModelView, wanted: string | undefined): string | undefined {
  if (wanted === undefined) return undefined;
  return (nodes.find(({ id }) => id === wanted) ?? nodes.find(({ outputs }) => outputs.includes(wanted)))?.id;
}
