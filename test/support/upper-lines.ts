/** The small project of crashes and damage. Two programs: a text in capitals, and a folder with a file for each of its lines. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { digestBytes } from '../../src/base/digest.js';
import type { CliWorld } from './cli-world.js';

/** The first says something, so that there is a log. */
export const UPPER_LINES = `version: 1
sources: {left: left.txt}
stages:
  upper: {uses: command, with: {run: ["echo hammering; tr a-z A-Z < in.txt > out.txt"], shell: sh, inputs: {text: in.txt}, outputs: {text: out.txt}}, inputs: {text: "\${sources.left}"}}
  lines: {uses: command, with: {run: ["mkdir out; split -l 1 in.txt out/"], shell: sh, inputs: {text: in.txt}, outputs: {all: out}}, inputs: {text: upper.text}}
`;

/** What of the artifacts is not what `text` in left.txt makes. */
export function findWrong(project: CliWorld, text: string): string | undefined {
  const upper = text.toUpperCase();
  if (project.read('artifacts/upper/text') !== upper) return 'upper is wrong';
  const lines = readdirSync(join(project.folder, 'artifacts/lines/all')).sort();
  const joined = lines.map(name => project.read(`artifacts/lines/all/${name}`)).join('');
  return joined === upper ? undefined : 'lines is wrong';
}

/** Files of a store that do not hold what they are named by. What is not complete is named otherwise. */
export function findDamage(cas: string): readonly string[] {
  if (!existsSync(cas)) return [];
  return readdirSync(cas, { recursive: true, withFileTypes: true })
    .filter(entry => entry.isFile() && /^[0-9a-f]{64}$/.test(entry.name))
    .map(entry => join(entry.parentPath, entry.name))
    .filter(path => digestBytes(readFileSync(path)) !== path.slice(-64));
}
