/** Detector families are named in their own folders only: other code asks the registries. */
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { EXPORTED_FAMILIES } from '../../src/detection/exported-families.js';
import { DETECTOR_FAMILIES } from '../../src/detection/registry.js';
import { findProject, readSources } from './import-graph.js';

const sources = readSources(findProject(dirname(fileURLToPath(import.meta.url))), ['src', 'stages']);
const FAMILIES = 'src/detection/families/';

/** `single` is also a word of other parts of the source code. */
const names = DETECTOR_FAMILIES.map(({ name }) => name).filter(name => name !== 'single');

it('no code outside of the families contains the name of a family as a string', () => {
  expect(names.length).toBeGreaterThan(2);
  const name = new RegExp(`'(${names.join('|')})'`);
  const others = [...sources].filter(([path, source]) => !path.startsWith(FAMILIES) && name.test(source));
  expect(others.map(([path]) => path)).toEqual([]);
});

it('no code outside the families imports one, except the registries and the description of single networks', () => {
  const importing = [...sources].filter(([path, source]) => !path.startsWith(FAMILIES) && /families\/(?!single\/)/.test(source));
  expect(importing.map(([path]) => path).sort()).toEqual(['src/detection/exported-families.ts', 'src/detection/registry.ts']);
});

it('every exported family is a registered family', () => {
  const registered = DETECTOR_FAMILIES.map(({ name }) => name);
  expect(EXPORTED_FAMILIES.filter(({ name }) => !registered.includes(name))).toEqual([]);
});
