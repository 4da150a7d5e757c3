/** Every thrown value becomes a failure with a code. */
import { fileURLToPath } from 'node:url';
import { InternalError } from '../../../../src/base/invariant.js';
import { createModuleGraph } from '../../../../src/engine/action/code/module-graph.js';
import { EngineError } from '../../../../src/engine/model/engine-error.js';
import { toFailure } from '../../../../src/engine/model/failure.js';
import { StageError } from '../../../../src/stage/stage-error.js';

const system = (code: string): Error => Object.assign(new Error(`${code}: something`), { code, syscall: 'write' });

describe('a failure', () => {
  it.each<[unknown, string]>([
    [new EngineError('timeout', 'too long'), 'timeout'],
    [new StageError('no-words', 'none'), 'no-words'],
    [new InternalError('ours'), 'internal'],
    [system('ENOSPC'), 'disk-full'],
    [system('EROFS'), 'not-permitted'],
    [system('EACCES'), 'not-permitted'],
    [system('ENOENT'), 'stage-crashed'],
    [new TypeError('a slip'), 'stage-crashed'],
    ['a string', 'stage-crashed'],
  ])('of %s has the code %s', (error, code) => {
    expect(toFailure(error)).toMatchObject({ code, message: expect.stringMatching(/./) });
  });

  it('names the causes, outermost first', () => {
    const error = new StageError('a', 'outer', { cause: new Error('middle', { cause: 'inner' }), help: 'do this', details: { x: 1 } });

    expect(toFailure(error)).toMatchObject({ causes: ['middle', 'inner'], help: 'do this', details: { x: 1 } });
  });
});

describe('a plugin module', () => {
  it.each([
    ['that is no JavaScript', () => 'import { from'],
    [
      'that cannot be read',
      () => {
        throw new Error('EIO');
      },
    ],
  ])('%s is refused with a code', async (_name, read) => {
    const graph = await createModuleGraph({ read });
    expect(() => graph.closureOf(fileURLToPath(import.meta.url))).toThrow(expect.objectContaining({ code: 'plugin-module' }));
  });
});
