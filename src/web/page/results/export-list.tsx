/** Saves what the filters keep as a file, for scripts and spreadsheets. */

interface ExportProps {
  readonly file: string;
  /** What the file holds. */
  readonly hint: string;
  readonly list: () => string;
}

export function ExportButton({ file, hint, list }: ExportProps) {
  const save = (): void => {
    const address = URL.createObjectURL(new Blob([list()], { type: 'text/csv' }));
    const link = document.createElement('a');
    link.href = address;
    link.download = file;
    link.click();
    URL.revokeObjectURL(address);
  };
  return (
    <button type="button" onClick={save} title={`${hint} as comma-separated values`}>
      Export the list
    </button>
  );
}
