/** Names for what is not complete yet. */
import { relative } from 'node:path';
import { cacheFolderAt } from '../../../../src/engine/store/cache-folder.js';
import { uniqueName } from '../../../../src/engine/store/files/unique-name.js';
import { isOwnFile } from '../../../../src/engine/store/own-names.js';

describe('a name of an incomplete file', () => {
  it('has as many digits as own names have, and was not given before', () => {
    const names = Array.from({ length: 50_000 }, (_, index) => uniqueName(index % 2 === 0 ? 12 : 16));
    expect(new Set(names).size).toBe(names.length);
    expect(names.every((name, index) => (index % 2 === 0 ? /^[0-9a-f]{12}$/ : /^[0-9a-f]{16}$/).test(name))).toBe(true);
  });

  it.each(['run', 'import', 'lock'])("is recognized as Tanren's own in the folder of temporary files: %s", what => {
    const cache = cacheFolderAt('/cache');
    const paths = Array.from({ length: 20 }, () => relative('/cache', cache.newTemporary(what)));
    expect(paths.filter(path => !isOwnFile(path))).toEqual([]);
  });
});
