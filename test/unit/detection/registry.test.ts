/** The registry of detector families, and parsing of host recipes by family. */
import { parseRecipe } from '../../../src/detection/read-definition.js';
import { DETECTOR_FAMILIES } from '../../../src/detection/registry.js';
import { failureOf } from '../../support/error-code.js';

describe('the registry of detector families', () => {
  it('has one family per name', () => {
    const names = DETECTOR_FAMILIES.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
  });

  it.each(DETECTOR_FAMILIES)('lets $name report the fields that its recipe lacks', async ({ name }) => {
    const recipe = { format: 'tanren-recipe', version: 1, architecture: name };
    const failure = await failureOf(() => parseRecipe(recipe));
    expect(failure).toMatchObject({ code: 'bad-recipe' });
    expect(failure.message).toContain('parts: should be an object, it is missing');
  });
});

describe('parseRecipe', () => {
  it('lists all families if the architecture is unknown', async () => {
    const failure = await failureOf(() => parseRecipe({ format: 'tanren-recipe', version: 1, architecture: 'other' }));
    expect(failure).toMatchObject({ code: 'bad-recipe' });
    for (const { name } of DETECTOR_FAMILIES) expect(failure.message).toContain(`"${name}"`);
  });

  it('rejects JSON that is not an object', async () => {
    expect((await failureOf(() => parseRecipe([]))).message).toContain('should be an object');
  });
});
