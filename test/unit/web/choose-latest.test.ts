import { type Answer, chooseLatest, type Kept } from '../../../src/web/page/api/choose-latest.js';

const LOADING: Answer<string, string> = { data: undefined, error: undefined };

describe('a view whose address changes with a build', () => {
  let kept: Kept<string> | undefined;
  const show = (answer: Answer<string, string>, of: string | undefined = 'quantize') => {
    const [shown, next] = chooseLatest(answer, of, kept);
    kept = next;
    return shown;
  };
  beforeEach(() => {
    kept = undefined;
  });

  it('shows nothing until the first answer', () => {
    expect(show(LOADING)).toEqual({ ...LOADING, isFormer: false });
  });

  it('shows the former data, marked, until the newer ones are there', () => {
    expect(show({ data: 'r1', error: undefined })).toMatchObject({ data: 'r1', isFormer: false });
    for (const _ of [1, 2]) expect(show(LOADING)).toEqual({ data: 'r1', error: undefined, isFormer: true });
    expect(show({ data: 'r2', error: undefined })).toMatchObject({ data: 'r2', isFormer: false });
    expect(show(LOADING)).toMatchObject({ data: 'r2', isFormer: true });
  });

  it('shows an error in place of former data, which do not come back', () => {
    show({ data: 'r1', error: undefined });
    expect(show({ data: undefined, error: 'gone' })).toEqual({ data: undefined, error: 'gone', isFormer: false });
    expect(show(LOADING)).toEqual({ ...LOADING, isFormer: false });
  });

  it('never shows data about another stage, or where there is none', () => {
    show({ data: 'r1', error: undefined });
    expect(show(LOADING, 'other').data).toBeUndefined();
    show({ data: 'r1', error: undefined });
    expect(chooseLatest(LOADING, undefined, kept)).toEqual([{ ...LOADING, isFormer: false }, undefined]);
  });
});
