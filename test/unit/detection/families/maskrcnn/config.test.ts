/** The detector config of Mask R-CNN: parsed, filled from defaults, and refused. */
import { readFileSync } from 'node:fs';
import type { Json } from '../../../../../src/base/json.js';
import { parseDetectorConfig } from '../../../../../src/detection/families/maskrcnn/config.js';
import { configProblemsOf } from '../../../../support/error-code.js';

const example = (): Record<string, Json> => JSON.parse(readFileSync('examples/shapes/models/maskrcnn-shapes.json', 'utf8'));

const problemsOf = (value: Json | undefined, defaults?: 'torchvision'): unknown =>
  configProblemsOf(() => parseDetectorConfig(value, defaults));

describe('a detector config', () => {
  it('with every field is read without defaults', () => {
    const { config, fromDefaults } = parseDetectorConfig(example(), undefined);
    expect(fromDefaults).toEqual([]);
    expect(config.anchors.sizes).toEqual([[8], [16], [32], [64], [128]]);
    expect(config.box.regressionWeights).toEqual([10, 10, 5, 5]);
    expect(config.categories[11]).toBe('cross');
    expect('architecture' in config).toBe(false);
  });

  it('with several mistakes is refused with all of them at once', () => {
    const value = example();
    value.rpn = { preNmsTopN: 0, postNmsTopN: 'many', nmsTreshold: 0.7, scoreThreshold: 2 };
    value.mask = null;
    value.categories = { 0: 'background', 12: 'too large', x: 'not a label' };
    delete value.box;
    expect(problemsOf(value)).toEqual([
      'rpn.nmsTreshold: is not a known field; did you mean "nmsThreshold"?',
      'rpn.preNmsTopN: should be at least 1, it is 0',
      'rpn.postNmsTopN: should be an integer, it is "many"',
      'rpn.nmsThreshold: should be a number, it is missing',
      'rpn.scoreThreshold: should be at most 1, it is 2',
      'box: should be an object, it is missing',
      'mask: should be an object, it is null',
      'categories.0: should be a label: an integer from 1',
      'categories.x: should be a label: an integer from 1',
    ]);
  });

  it.each([
    [
      'a label that numClasses does not have',
      { categories: { 12: 'too large' } },
      'categories.12: should be a label below numClasses (12)',
    ],
    [
      'maxSize below minSize',
      { input: { minSize: 192, maxSize: 100, mean: [0, 0, 0], std: [1, 1, 1], sizeDivisible: 32 } },
      'input.maxSize: should be at least minSize (192), it is 100',
    ],
    ['a list of the wrong length', { anchors: { sizes: [[8], []], aspectRatios: [1] } }, 'anchors.sizes[1]: should not be empty'],
    ['a std of zero', { input: { ...(example().input as object), std: [1, 0, 1] } }, 'input.std[1]: should be more than 0, it is 0'],
  ])('with %s is refused', (_, change, problem) => {
    expect(problemsOf({ ...example(), ...(change as Record<string, Json>) })).toEqual([problem]);
  });

  it.each<[string, Json | undefined, string]>([
    ['nothing', undefined, 'should be an object, it is missing'],
    ['a list', [], 'should be an object, it is a list'],
  ])('that is %s is refused', (_, value, problem) => {
    expect(problemsOf(value)).toEqual([problem]);
  });
});

describe("torchvision's defaults, asked for by name", () => {
  it('give a whole config without a file, and list the values that they supplied', () => {
    const { config, fromDefaults } = parseDetectorConfig(undefined, 'torchvision');
    expect(config.input).toEqual({
      minSize: 800,
      maxSize: 1333,
      mean: [0.485, 0.456, 0.406],
      std: [0.229, 0.224, 0.225],
      sizeDivisible: 32,
    });
    expect(config.anchors).toEqual({ sizes: [[32], [64], [128], [256], [512]], aspectRatios: [0.5, 1, 2] });
    expect(config.rpn).toEqual({ preNmsTopN: 1000, postNmsTopN: 1000, nmsThreshold: 0.7, scoreThreshold: 0 });
    expect(Object.keys(config.categories)).toHaveLength(80);
    expect(fromDefaults).toContain('rpn.nmsThreshold');
    expect(fromDefaults).toContain('categories');
    expect(fromDefaults).toHaveLength(5 + 2 + 4 + 6 + 3 + 2);
  });

  it('fill only fields that the file lacks', () => {
    const { rpn, ...rest } = example();
    const { config, fromDefaults } = parseDetectorConfig({ ...rest, rpn: { preNmsTopN: 7 } }, 'torchvision');
    expect(rpn).toBeDefined();
    expect(config.rpn).toEqual({ preNmsTopN: 7, postNmsTopN: 1000, nmsThreshold: 0.7, scoreThreshold: 0 });
    expect(config.numClasses).toBe(12);
    expect(fromDefaults).toEqual(['rpn.postNmsTopN', 'rpn.nmsThreshold', 'rpn.scoreThreshold']);
  });

  it('do not make an unknown field valid', () => {
    expect(problemsOf({ rnp: {} }, 'torchvision')).toEqual(['rnp: is not a known field; did you mean "rpn"?']);
  });
});
