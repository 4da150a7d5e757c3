/** Formats the advice of `lint`: steps and rewrites with their effect, the stages to paste, and a table of data types. */
import type { Advice, DTypeRow, Outcome, RefusedRewrite, RuleForm, TriedRewrite, TriedStep } from '../../target/advice/advice.js';
import type { Style } from '../terminal/style.js';
import { formatTable } from '../terminal/text-table.js';

/** For a model without findings, the table of data types alone. */
export function formatAdvice(advice: Advice, style: Style): readonly string[] {
  const todo = formatTodo(advice);
  const stages = formatStages(advice);
  return [
    ...(todo.length === 0 ? [] : ['', style('bold', 'what to do'), ...todo]),
    ...(stages.length === 0 ? [] : ['', ...stages]),
    ...(advice.dtypes.length === 0 ? [] : ['', ...formatTypes(advice)]),
  ];
}

function formatTodo({ steps, refusedSteps, opset, rewrites, refused, trust, dtypes }: Advice): readonly string[] {
  return [
    ...steps.filter(({ kind }) => kind !== 'quantize').map(formatStep),
    ...(opset === undefined
      ? []
      : [
          `  convert the model to operator set ${opset} first, as \`import\` does: the rewrites then have operators that the target documents`,
        ]),
    ...steps.filter(({ kind }) => kind === 'quantize').map(formatStep),
    ...rewrites.map(formatRewrite),
    ...refusedSteps.map(({ reason }) => `  no step: ${reason}`),
    ...onePerRule(refused).map(one => `  not ${nameOf(one)}: ${one.reason}`),
    ...formatOtherDType(dtypes),
    ...(trust === undefined ? [] : formatTrust(trust)),
  ];
}

function nameOf({ rule, form }: RuleForm): string {
  return `${rule}${form === undefined ? '' : `, form ${form}`}`;
}

function onePerRule(refused: readonly RefusedRewrite[]): readonly RefusedRewrite[] {
  return refused.filter(({ rule }, index) => refused.findIndex(other => other.rule === rule) === index);
}

function formatStep({ text, before, after }: TriedStep): string {
  return `  ${text}: ${formatEffect(before, after)}`;
}

function formatRewrite({ before, after, places, effect, ...named }: TriedRewrite): string {
  const where = `${places} place${places === 1 ? '' : 's'}`;
  return `  rewrite ${nameOf(named)} (${effect}), ${where}: ${formatEffect(before, after)}`;
}

function formatEffect(before: Outcome, after: Outcome): string {
  return `${percent(before)} → ${percent(after)} on the NPU, ${before.cpuUnits} → ${after.cpuUnits} units on the CPU`;
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

function isAhead({ outcome: a }: DTypeRow, { outcome: b }: DTypeRow): boolean {
  return a.npuMacShare === b.npuMacShare ? a.cpuUnits < b.cpuUnits : a.npuMacShare > b.npuMacShare;
}

/** No document or report says that the target runs these nodes; only a board can. */
function formatTrust({ before, after }: NonNullable<Advice['trust']>): readonly string[] {
  return [
    `  or try undocumented nodes on a board: ${formatEffect(before, after)} if it runs them`,
    '    (`undocumented: npu` of compile; `runner.py check` of the bundle says which nodes the board ran, and `board-report --learn` keeps it as a profile)',
  ];
}

function percent({ npuMacShare }: Outcome): string {
  return `${(100 * npuMacShare).toFixed(1)} %`;
}

/** YAML for a pipeline file, in the order of the stages. */
function formatStages({ steps, rewrites }: Advice): readonly string[] {
  const paramsOf = (kinds: readonly TriedStep['kind'][]): readonly string[] =>
    steps.flatMap(({ kind, param }) => (kinds.includes(kind) && param !== undefined ? [param] : []));
  const [imported, quantized] = [paramsOf(['sizes', 'cut']), paramsOf(['quantize'])];
  return [
    ...(imported.length === 0 ? [] : formatStage('import', imported, `model: "\${sources.model}"`)),
    ...(rewrites.length === 0 ? [] : formatRewriteStage(rewrites)),
    ...(quantized.length === 0
      ? []
      : formatStage('quantize', quantized, `model: ${rewrites.length > 0 ? 'rewrite' : 'simplify'}.model, sketches: calibrate.sketches`)),
  ];
}

function formatStage(name: string, params: readonly string[], inputs: string): readonly string[] {
  return [`  ${name}:`, `    uses: ${name}`, '    with:', ...params.map(param => `      ${param}`), `    inputs: {${inputs}}`];
}

function formatRewriteStage(rewrites: readonly TriedRewrite[]): readonly string[] {
  return [
    '  rewrite:',
    '    uses: rewrite',
    '    with:',
    '      rules:',
    ...rewrites.map(({ rule, form }) => `        - {name: ${rule}, ${form === undefined ? '' : `form: ${form}, `}matches: any}`),
    '    inputs: {model: simplify.model}',
  ];
}

function formatTypes({ dtypes, steps }: Advice): readonly string[] {
  const isRewritten = dtypes.some(({ rewrites }) => rewrites.length > 0);
  const title = steps.length > 0 ? 'then, by data type' : 'by data type';
  const cells = dtypes.map(({ dtype, outcome, rewrites }) => [
    dtype,
    percent(outcome),
    `${outcome.npuParts} of ${outcome.parts}`,
    String(outcome.cpuUnits),
    `${outcome.estimatedMs.toFixed(1)} ms`,
    ...(isRewritten ? [rewrites.length === 0 ? 'none' : rewrites.map(nameOf).join('; ')] : []),
  ]);
  const heads = [title, 'on the NPU', 'NPU parts', 'CPU units', 'estimate per call', ...(isRewritten ? ['with the rewrites'] : [])];
  return formatTable([heads, ...cells], 'left').map(line => `  ${line}`);
}
