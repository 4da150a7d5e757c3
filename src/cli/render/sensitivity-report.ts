/** Formats the costs of layers as a table, the most expensive first. */

import { countOf } from '../../base/text/count-of.js';
import { fixed } from '../../base/text/fixed.js';
import type { LayerSensitivity, SensitivityReport } from '../../quant/sensitivity/report-schema.js';
import { formatSqnr } from '../../tensor/compare.js';
import { formatTable } from '../terminal/text-table.js';

/** Rows without `--all`. */
const FIRST = 20;

export function formatSensitivity(
  stage: string,
  { samples, outputs, layers }: SensitivityReport,
  rows: 'all' | 'first',
): readonly string[] {
  const listed = rows === 'all' ? layers : layers.slice(0, FIRST);
  const errors = outputs.map(({ name, sqnrDb }) => `${name} ${formatSqnr(sqnrDb, 2)}`);
  const hidden = layers.length - listed.length;
  return [
    `${stage}: ${countOf(samples, 'sample')}, SQNR of the outputs: ${errors.join(', ')}`,
    '',
    ...formatTable([['layer', 'nodes', 'cost', 'share', 'own SQNR', 'outputs without it'], ...listed.map(describe)]),
    ...(hidden === 0 ? [] : [`and ${countOf(hidden, 'layer')} more: --all lists them`]),
  ];
}

function describe({ values, nodes, alone, share, ownSqnrDb }: LayerSensitivity): readonly string[] {
  const [first = '', ...others] = values;
  return [
    others.length === 0 ? first : `${first} + ${others.length}`,
    summarize(nodes.map(({ opType }) => opType)),
    alone === undefined ? '–' : percent(alone.cost),
    percent(share),
    formatSqnr(ownSqnrDb, 1),
    alone === undefined ? '–' : alone.outputs.map(({ sqnrDb }) => formatSqnr(sqnrDb, 2)).join(', '),
  ];
}

/** The different operators, in order. */
function summarize(operators: readonly string[]): string {
  return operators.length === 0 ? 'input' : [...new Set(operators)].join(' ');
}

function percent(part: number): string {
  return `${fixed(100 * part, 2)} %`;
}
