/** Formats the advice of `lint`: rewrites with their effect, a table of data types, and the stage to add to a pipeline file. */
import type { Advice, Outcome, RefusedRewrite, TriedRewrite } from '../../target/advice/advise.js';
import type { Style } from '../terminal/style.js';
import { formatTable } from '../terminal/text-table.js';

/** Empty if no finding names a rewrite, and there is no table. */
export function formatAdvice({ opset, rewrites, refused, trust, dtypes }: Advice, style: Style): readonly string[] {
  if (rewrites.length + refused.length + dtypes.length === 0 && trust === undefined) return [];
  return [
    '',
    style('bold', 'what to do'),
    ...(opset === undefined
      ? []
      : [
          `  convert the model to operator set ${opset} first, as \`import\` does: the rewrites then have operators that the target documents`,
        ]),
    ...rewrites.map(formatRewrite),
    ...onePerRule(refused).map(one => `  not ${nameOf(one)}: ${one.reason}`),
    ...formatOtherDType(dtypes),
    ...(trust === undefined ? [] : formatTrust(trust)),
    ...(rewrites.length === 0 ? [] : ['', ...formatStage(rewrites)]),
    ...(dtypes.length === 0 ? [] : ['', ...formatTypes(dtypes, rewrites.length > 0)]),
  ];
}

function nameOf({ rule, form }: Pick<TriedRewrite, 'rule' | 'form'>): string {
  return `${rule}${form === undefined ? '' : `, form ${form}`}`;
}

function onePerRule(refused: readonly RefusedRewrite[]): readonly RefusedRewrite[] {
  return refused.filter(({ rule }, index) => refused.findIndex(other => other.rule === rule) === index);
}

function formatRewrite({ before, after, places, effect, ...named }: TriedRewrite): string {
  const where = `${places} place${places === 1 ? '' : 's'}`;
  return `  rewrite ${nameOf(named)} (${effect}), ${where}: ${percent(before)} → ${percent(after)} on the NPU, ${before.cpuUnits} → ${after.cpuUnits} units on the CPU`;
}

/** The data type with the most on the NPU, if that is more than with the chosen one. */
function formatOtherDType([own, ...others]: Advice['dtypes']): readonly string[] {
  if (own === undefined) return [];
  const best = others.reduce((first, second) => (isAhead(second, first) ? second : first), own);
  if (best === own) return [];
  return [
    `  or data type ${best.dtype}: ${percent(best.outcome)} instead of ${percent(own.outcome)} on the NPU, ${best.outcome.cpuUnits} instead of ${own.outcome.cpuUnits} units on the CPU (\`preset: ${best.dtype}\` of quantize, \`dtype: ${best.dtype}\` of compile)`,
  ];
}

function isAhead({ outcome: a }: Advice['dtypes'][number], { outcome: b }: Advice['dtypes'][number]): boolean {
  return a.npuMacShare === b.npuMacShare ? a.cpuUnits < b.cpuUnits : a.npuMacShare > b.npuMacShare;
}

/** No document or report says that the target runs these nodes; only a board can. */
function formatTrust({ before, after }: NonNullable<Advice['trust']>): readonly string[] {
  return [
    `  or try undocumented nodes on a board: ${percent(before)} → ${percent(after)} on the NPU, ${before.cpuUnits} → ${after.cpuUnits} units on the CPU if it runs them`,
    '    (`undocumented: npu` of compile; `runner.py check` of the bundle says which nodes the board ran, and `board-report --learn` keeps it as a profile)',
  ];
}

function percent({ npuMacShare }: Outcome): string {
  return `${(100 * npuMacShare).toFixed(1)} %`;
}

/** YAML for a pipeline file; the input is the stage before. */
function formatStage(rewrites: readonly TriedRewrite[]): readonly string[] {
  return [
    '  rewrite:',
    '    uses: rewrite',
    '    with:',
    '      rules:',
    ...rewrites.map(({ rule, form }) => `        - {name: ${rule}, ${form === undefined ? '' : `form: ${form}, `}matches: any}`),
    '    inputs: {model: simplify.model}',
  ];
}

function formatTypes(rows: Advice['dtypes'], isRewritten: boolean): readonly string[] {
  const cells = rows.map(({ dtype, outcome }) => [
    dtype,
    percent(outcome),
    `${outcome.npuParts} of ${outcome.parts}`,
    String(outcome.cpuUnits),
    `${outcome.estimatedMs.toFixed(1)} ms`,
  ]);
  const table = [
    [isRewritten ? 'then, by data type' : 'by data type', 'on the NPU', 'NPU parts', 'CPU units', 'estimate per call'],
    ...cells,
  ];
  return formatTable(table, 'left').map(line => `  ${line}`);
}
