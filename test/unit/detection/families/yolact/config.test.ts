/** The detector config of YOLACT: parsed, filled from defaults, and refused. */
import type { Json } from '../../../../../src/base/json.js';
import { parseYolactConfig } from '../../../../../src/detection/families/yolact/config.js';
import { configProblemsOf } from '../../../../support/error-code.js';
import { TINY_YOLACT_CONFIG } from '../../../../support/tiny-yolact.js';

const example = (change: object): Json => JSON.parse(JSON.stringify({ ...TINY_YOLACT_CONFIG, ...change })) as Json;

const problemsOf = (value: Json): unknown => configProblemsOf(() => parseYolactConfig(value, undefined));

describe('a YOLACT config', () => {
  it('reads every field, and ignores the note on the architecture', () => {
    expect(parseYolactConfig(example({ architecture: 'yolact' }), undefined)).toEqual({ config: TINY_YOLACT_CONFIG, fromDefaults: [] });
  });

  it('reports all problems in one error', () => {
    const { priors, detection } = TINY_YOLACT_CONFIG;
    const value = example({
      priors: { ...priors, scales: [], usePixelScales: 1 },
      detection: { ...detection, nms: 'slow' },
      mask: {},
      categories: [
        { id: 1, name: 'a' },
        { id: 1, name: 'b' },
      ],
      numClasses: 3,
    });
    expect(problemsOf(value)).toEqual([
      'numClasses: is not a known field',
      'priors.scales: should not be empty',
      'priors.usePixelScales: should be true or false, it is 1',
      'detection.nms: should be "fast" or "fast-cross-class" or "traditional", it is "slow"',
      'mask.threshold: should be a number, it is missing',
    ]);
    expect(
      problemsOf(
        example({
          categories: [
            { id: 1, name: 'a' },
            { id: 1, name: 'b' },
          ],
        }),
      ),
    ).toEqual(['categories[1].id: duplicate id 1']);
  });

  it.each([
    ['yolact', [24, 48, 96, 192, 384], 58.4],
    ['yolact-darknet53', [24, 48, 96, 192, 384], 255],
    ['yolact-im400', [17, 34, 69, 139, 279], 58.4],
    ['yolact-im700', [30, 61, 122, 244, 488], 58.4],
  ] as const)('is complete with the defaults %s alone', (name, scales, std) => {
    const { config, fromDefaults } = parseYolactConfig(undefined, name);
    expect(config.priors.scales.flat()).toEqual(scales);
    expect(config.input.std[0]).toBe(std);
    expect(config.categories).toHaveLength(80);
    expect(config.categories[11]).toEqual({ id: 13, name: 'stop sign' });
    expect(fromDefaults).toContain('categories');
  });
});
