/** Files of the package that a pipeline file can start from: templates, and the examples that they name. */
import { cpSync, existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { findInstallRoot } from '../../../process/install-root.js';
import { type Example, fileOf } from './templates.js';

/** Example images, used until others are named. */
export const STAND_INS = 'examples/shapes/data/calib';

const PACKAGE = dirname(findInstallRoot());

/** The text of a template without its first line, the schema for editors, and with commands that name `file`. */
export function readTemplate(template: Example | undefined, file: string): string {
  const own = fileOf(template);
  const text = readFileSync(join(PACKAGE, own), 'utf8').replace(/^# yaml-language-server:[^\n]*\n/, '');
  return file === 'pipeline.yaml' ? text.replaceAll(` -f ${own}`, '') : text.replaceAll(` -f ${own}`, ` -f ${file}`);
}

/** The places under examples/ that a pipeline file names. */
export function examplesIn(text: string): readonly string[] {
  return [...new Set(text.match(/\bexamples\/[\w./-]+/g) ?? [])];
}

/** Copies places of the package into the project. What is there stays as it is. @returns the places that were copied. */
export function copyExamples(places: readonly string[], projectFolder: string): readonly string[] {
  return places.filter(place => {
    const to = join(projectFolder, place);
    if (existsSync(to)) return false;
    cpSync(join(PACKAGE, place), to, { recursive: true, errorOnExist: true, force: false });
    return true;
  });
}

/** The comment that lets editors check the file at `file`, if the package lies in the project; else how to get it. */
export function schemaComment(file: string, projectFolder: string): string {
  const schema = join(PACKAGE, 'docs', 'pipeline.schema.json');
  if (relative(projectFolder, schema).startsWith('..'))
    return '# "tanren schema > pipeline.schema.json" writes a schema that lets editors check this file.\n';
  return `# yaml-language-server: $schema=${relative(dirname(resolve(file)), schema).replaceAll('\\', '/')}\n`;
}
