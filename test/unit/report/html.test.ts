/** Escaping of untrusted text in HTML. */
import { assert, property, string } from 'fast-check';
import { findColumnHint } from '../../../src/report/column-hints.js';
import { html, trusted } from '../../../src/report/html.js';

describe('html', () => {
  it('escapes values in content and in attributes', () => {
    expect(html`<a title="${`"><script>'&`}">${'<b>'}</a>`.markup).toBe('<a title="&quot;&gt;&lt;script&gt;&#39;&amp;">&lt;b&gt;</a>');
  });

  it('keeps markup, joins lists, and omits undefined', () => {
    expect(html`${[html`<i>${1}</i>`, trusted('<hr>'), '&']}${undefined}`.markup).toBe('<i>1</i><hr>&amp;');
  });

  it('replaces bidirectional controls, control characters and lone surrogates', () => {
    expect(html`${'a\u202Eb\u0000c\uD800d\u2066e'}`.markup).toBe('a\uFFFDb\uFFFDc\uFFFDd\uFFFDe');
  });

  it('lets no value end its place', () => {
    assert(property(string({ unit: 'binary' }), value => !/[<>"']/.test(html`${value}`.markup)));
  });
});

describe('hints of columns', () => {
  it('explain terms, and no words that have other meanings elsewhere', () => {
    expect(findColumnHint('SQNR (dB)')).toMatch(/^Power of the signal/);
    for (const word of ['Cost', 'Run', 'Missed', 'Extra', 'Matched', 'Type', 'Method', 'NPU', 'Value'])
      expect(findColumnHint(word)).toBeUndefined();
  });
});
