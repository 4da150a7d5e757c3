/** Escaping of untrusted text in HTML. */
import { assert, property, string } from 'fast-check';
import { html, trusted } from '../../../src/report/html.js';
import { drawTable, number, text } from '../../../src/report/table.js';

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

describe('a table', () => {
  it('explains the heads that are terms, and no others', () => {
    const { markup } = drawTable({ caption: 'c', columns: [text('Value'), number('SQNR (dB)')], rows: [['a', 1]] });
    expect(markup).toContain('<th scope="col" class="t">Value</th>');
    expect(markup).toMatch(/<th scope="col" class="n" title="Power of the signal[^"]*">SQNR \(dB\)<\/th>/);
  });

  it('explains a head by the hint of its column first', () => {
    const { markup } = drawTable({ caption: 'c', columns: [text('SQNR', 'of the "weight"'), text('Cost', 'a score')], rows: [] });
    expect(markup).toContain('title="of the &quot;weight&quot;">SQNR</th>');
    expect(markup).toContain('title="a score">Cost</th>');
  });

  it.each([
    'Cost',
    'Run',
    'Missed',
    'Extra',
    'Matched',
    'Type',
    'Method',
    'NPU',
  ])('does not explain a head "%s" by its text alone: it has other meanings elsewhere', title => {
    expect(drawTable({ caption: 'c', columns: [text(title)], rows: [] }).markup).toContain(`<th scope="col" class="t">${title}</th>`);
  });
});
