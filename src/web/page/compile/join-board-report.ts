/** Joins the report of `compile` with a report of a board (`board-report --json`): nodes that ran elsewhere than predicted. */
import type { BoardReport } from '../../../target/board/board-report.js';
import type { CompileReport, Unit } from './compile-report.js';

export interface BoardNodeRow {
  readonly node: string;
  readonly op: string;
  /** Where the board ran it. */
  readonly place: BoardReport['nodes'][number]['place'];
  /** The unit that the node belongs to, and where it was predicted; undefined for a node that no model of the report has. */
  readonly predicted: { readonly model: string; readonly unit: Unit } | undefined;
  /** In the words of the vendor's tools. */
  readonly reasons: readonly string[];
}

/** Nodes of the board that were not on the NPU; those predicted on it come first. The order is the report's otherwise. */
export function joinBoardReport({ models }: CompileReport, board: BoardReport): readonly BoardNodeRow[] {
  const found = new Map<string, { readonly model: string; readonly unit: Unit }>();
  for (const { name: model, units } of modelsOf(models, board.model))
    for (const unit of units) for (const node of unit.nodes) if (!found.has(node)) found.set(node, { model, unit });
  const rows = board.nodes.map(
    ({ name, op, place, reasons }): BoardNodeRow => ({
      node: name,
      op,
      place,
      predicted: found.get(name),
      reasons: reasons.map(({ text }) => text),
    }),
  );
  return [...rows.filter(isSurprise), ...rows.filter(row => !isSurprise(row))];
}

/** The board ran one model: the longest name in that of its file, as `mask_head.onnx` has `head` too. Without one, the first with a node is meant. */
function modelsOf(models: CompileReport['models'], file: string | undefined): CompileReport['models'] {
  const own = models.filter(({ name }) => file?.includes(name) === true).toSorted((a, b) => b.name.length - a.name.length);
  return own.length === 0 ? models : own.slice(0, 1);
}

/** Predicted on the NPU, and not run there. */
export function isSurprise({ predicted }: BoardNodeRow): boolean {
  return predicted !== undefined && predicted.unit.device === 'npu' && !predicted.unit.edge;
}
