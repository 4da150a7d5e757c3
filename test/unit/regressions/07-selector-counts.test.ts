/** A selector that means nothing, or several things where one is meant, is an error: other tools' exclude lists ignore misspelt names silently. */
import { selectMatching } from '../../../src/onnx/rewrite/matches.js';
import { findExcluded, findOverridden } from '../../../src/quant/scheme/overrides.js';
import { smallGraph } from '../quant/small-graph.js';

function graph() {
  const small = smallGraph();
  small.input('image', [1, 1, 2, 2]);
  small.floats('w', [1, 1, 1, 1], [1]);
  small.node('Conv image w -> objectness_4').name = 'backbone/rpn/head/conv';
  small.node('Conv image w -> objectness_3').name = 'backbone/rpn/head/conv_3';
  small.output('objectness_3', 'objectness_4');
  return small.model.graph;
}

describe('selectors', () => {
  it.each([
    ['a misspelt node', () => findExcluded(graph(), ['backbone/rpn/head/conw']), '"backbone/rpn/head/conv"'],
    ['a part of a path', () => findExcluded(graph(), ['head/conv']), '"backbone/rpn/head/conv"'],
    ['a misspelt tensor', () => findExcluded(graph(), [{ tensor: 'objectnes_4' }]), '"objectness_4"'],
    [
      'a pattern with a misspelt tensor',
      () => findOverridden(graph(), { tensor: 'objectnes_*', set: { dtype: 'int8' } }),
      '"objectness_3"',
    ],
    ['an unknown operator', () => findOverridden(graph(), { node: { op: 'Convv' }, set: { dtype: 'int8' } }), '"Conv"'],
  ])('%s is an error that names what is near', (_what, select, near) => {
    expect(select).toThrow(expect.objectContaining({ code: 'selector-matches-nothing', help: expect.stringContaining(near) }));
  });

  it('that match two nodes instead of one are an error that names both', () => {
    expect(() => selectMatching(graph(), { op: 'Conv' }, 'one')).toThrow(
      expect.objectContaining({
        code: 'selector-matches-several',
        message: expect.stringMatching(/matches 2 nodes.*head\/conv.*head\/conv_3/),
      }),
    );
  });

  it('that match several nodes are accepted where several nodes are allowed', () => {
    expect(findExcluded(graph(), ['backbone/*']).nodes.size).toBe(2);
    expect(findOverridden(graph(), { tensor: 'objectness_*', set: { dtype: 'int8' } })).toHaveLength(2);
  });
});
