/** Checks that the console blocks of a page show what the commands print: each "$ command" is run, and what follows is what it must print. */
import { spawnSync } from 'node:child_process';

export interface ConsoleStep {
  readonly command: string;
  /** Lines; "…" stands for any number of them. */
  readonly expected: readonly string[];
}

/** The steps of every ```console block, in the page's order. */
export function stepsOf(page: string): readonly ConsoleStep[] {
  return [...page.matchAll(/^```console\n([\s\S]*?)^```/gm)].flatMap(([, block = '']) =>
    block
      .split(/^\$ /m)
      .slice(1)
      .map(step => {
        const [command = '', ...expected] = step.replace(/\n$/, '').split('\n');
        return { command, expected: withoutBlankEnds(expected) };
      }),
  );
}

/** Runs the steps in one folder, one after the other; `$?` is the exit code of the step before. @returns what each printed, on either stream. */
export function playSteps(steps: readonly ConsoleStep[], cwd: string, env: NodeJS.ProcessEnv): readonly (readonly string[])[] {
  let exitCode = 0;
  return steps.map(({ command }) => {
    const result = spawnSync('sh', ['-c', `exec 2>&1; (exit ${exitCode}); ${command}`], { cwd, env, encoding: 'utf8', timeout: 300_000 });
    exitCode = result.status ?? 1;
    return withoutBlankEnds(result.stdout.split('\n'));
  });
}

/** Durations, dates and digests differ from machine to machine, columns with the length of durations, and the count of ended stages with their order. */
export function withoutFigures(line: string): string {
  return line
    .replace(/\d{4}-\d\d-\d\d \d\d:\d\d:\d\d/g, 'DATE')
    .replace(/(\d+ min )?\d+(\.\d+)? (ms|s)\b/g, 'TIME')
    .replace(/ {2}\[\d+\/(\d+)\]$/, '  [N/$1]')
    .replace(/\b[0-9a-f]{64}\b/g, 'DIGEST')
    .replace(/(?<=\S) {2,}/g, '  ');
}

/** Lines of stages that run at once come in any order: neighbors that begin with a mark are compared as a set. */
function sortEvents(lines: readonly string[]): readonly string[] {
  const sorted: string[] = [];
  let run: string[] = [];
  for (const line of [...lines, '']) {
    if (/^[▸✓↺↻✗–] (?!gate )/u.test(line)) run.push(withoutFigures(line));
    else {
      sorted.push(...run.sort(), line);
      run = [];
    }
  }
  return sorted.slice(0, -1);
}

/** How `printed` is not `shown`, where "…" takes any lines, up to the next expected one. */
export function findMismatch(shown: readonly string[], printed: readonly string[]): string | undefined {
  const [expected, actual] = [sortEvents(shown), sortEvents(printed)];
  let at = 0;
  for (let index = 0; index < expected.length; index++) {
    const line = withoutFigures(expected[index] ?? '');
    if (line.trim() === '…') {
      const next = expected[index + 1];
      if (next === undefined) return undefined;
      const found = actual.findIndex((candidate, place) => place >= at && withoutFigures(candidate) === withoutFigures(next));
      if (found < 0) return `nothing is "${next}"`;
      at = found;
    } else {
      if (withoutFigures(actual[at] ?? '(the end)') !== line)
        return `expected "${expected[index]}", there is "${actual[at] ?? '(the end)'}"`;
      at += 1;
    }
  }
  return at < actual.length ? `"${actual[at]}" is not in the page` : undefined;
}

/** The page with what the steps really printed; steps that leave lines out stay as they are. */
export function updatePage(page: string, steps: readonly ConsoleStep[], outputs: readonly (readonly string[])[]): string {
  let at = 0;
  let updated = '';
  for (const [index, { command, expected }] of steps.entries()) {
    const start = page.indexOf(`\n$ ${command}\n`, Math.max(0, at - 1)) + `\n$ ${command}\n`.length;
    const end = start + expected.join('\n').length;
    const elided = expected.some(line => line.trim() === '…');
    const lines = (elided ? expected : (outputs[index] ?? [])).join('\n');
    updated += page.slice(at, start) + (expected.length === 0 && lines !== '' ? `${lines}\n` : lines);
    at = end;
  }
  return updated + page.slice(at);
}

function withoutBlankEnds(lines: readonly string[]): readonly string[] {
  const first = lines.findIndex(line => line !== '');
  const last = lines.findLastIndex(line => line !== '');
  return first < 0 ? [] : lines.slice(first, last + 1);
}
