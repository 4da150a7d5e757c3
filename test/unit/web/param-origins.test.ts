/** Where the params of a stage come from, as the page shows it. */
import { originsOf } from '../../../src/web/views/param-origins.js';

const TEXT = `stages:
  export:
    uses: export
    with:
      architecture: maskrcnn
      input: [1, 3, "\${height}", "\${width}", "\${height}"]
      thresholds: {box: "\${least}", $: "$\${no}"}
`;

const originOf = originsOf({ group: 'export' }, { name: 'pipeline.yaml', text: TEXT });

describe('the origin of a param', () => {
  it.each([
    ['architecture', { kind: 'file', line: 5 }],
    ['input', { kind: 'reference', line: 6, refers: ['height', 'width'] }],
    ['thresholds', { kind: 'reference', line: 7, refers: ['least'] }],
    ['thresholds.box', { kind: 'reference', line: 7, refers: ['least'] }],
    ['thresholds.mask', { kind: 'default' }],
    ['opset', { kind: 'default' }],
  ])('%s is where it is written, with what it refers to, each once', (path, origin) => {
    expect(originOf(path)).toEqual(origin);
  });
});
