/** Reads tables of a page's markup. */

const ENTITIES: Readonly<Record<string, string>> = { '&lt;': '<', '&gt;': '>', '&quot;': '"', '&#39;': "'", '&amp;': '&' };

/** The text of markup, without its elements. */
export function textOf(markup: string): string {
  return markup
    .replace(/<[^>]*>/g, ' ')
    .replace(/&(?:lt|gt|quot|#39|amp);/g, entity => ENTITIES[entity] ?? entity)
    .replace(/[ \n]+/g, ' ')
    .trim();
}

/** The cells of each row of the tables that have this label, without those of heads. */
export function rowsOf(markup: string, label: string | RegExp): readonly (readonly string[])[] {
  const tables = [...markup.matchAll(/aria-label="([^"]*)"[^>]*><table[^>]*>.*?<tbody>(.*?)<\/tbody>/gs)].filter(([, own = '']) =>
    typeof label === 'string' ? textOf(own) === label : label.test(textOf(own)),
  );
  return tables.flatMap(([, , body = '']) =>
    [...body.matchAll(/<tr[^>]*>(.*?)<\/tr>/gs)].map(([, row = '']) =>
      [...row.matchAll(/<t[hd][^>]*>(.*?)<\/t[hd]>/gs)].map(([, cell = '']) => textOf(cell)),
    ),
  );
}
