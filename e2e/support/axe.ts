import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const OPTIONS: RunOptions = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
  // Leaves out results that pass, and style sheets, which none of these rules read.
  resultTypes: ['violations'],
  preload: { assets: ['media'] },
}

/** Runs in the page. A string, because a function would need types for `axe`, which is not imported. */
const RUN = `axe.run(${JSON.stringify(OPTIONS)}).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ target }) => target.join(' ')).join(', ')))`

/** Returns the violations of WCAG 2.2 AA on this page, one line for each rule. */
export async function violations(page: Page): Promise<string[]> {
  // The minified source, because loading it is most of the cost of a check.
  await page.evaluate(SOURCE)
  return page.evaluate<string[]>(RUN)
}
