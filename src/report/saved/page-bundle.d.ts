/** The page's views as one script and one style sheet, which the build bundles (scripts/build-saved-page.mjs). */
export const PAGE_SCRIPT: string;
export const PAGE_STYLE: string;
