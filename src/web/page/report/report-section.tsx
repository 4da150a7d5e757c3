/** A section of the view "Report", and its tables. */
import type { ComponentChildren } from 'preact';
import { isStatic } from '../api/saved.js';
import { type ColumnSpec, DataTable } from '../parts/data-table.js';
import { Link } from '../parts/link.js';

interface SectionProps {
  readonly id: string;
  readonly title: string;
  /** The view that shows more. */
  readonly view?: readonly [name: string, title: string];
  readonly children: ComponentChildren;
}

export function ReportSection({ id, title, view, children }: SectionProps) {
  return (
    <section id={id} class="report-section" tabIndex={-1} aria-labelledby={`${id}-title`}>
      <h2 id={`${id}-title`}>
        {title}
        {view !== undefined && !isStatic && (
          <>
            {' '}
            <Link view={view[0]} class="to-view">
              in the view {view[1]}
            </Link>
          </>
        )}
      </h2>
      {children}
    </section>
  );
}

/** Scrolls to a section, and goes on from there with the keyboard. */
export function showSection(id: string): void {
  const section = document.getElementById(id);
  section?.focus({ preventScroll: true });
  section?.scrollIntoView();
}

interface TableProps<Row> {
  readonly caption: string;
  readonly rows: readonly Row[];
  readonly columns: readonly ColumnSpec<Row>[];
  readonly keyOf: (row: Row) => string;
}

/** A sortable table below its caption. */
export function CaptionedTable<Row>({ caption, rows, columns, keyOf }: TableProps<Row>) {
  return (
    <div class="captioned">
      <p class="soft">{caption}</p>
      <DataTable label={caption} rows={rows} columns={columns} keyOf={keyOf} visibleRows={24} />
    </div>
  );
}
