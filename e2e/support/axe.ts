import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { RunOptions } from 'axe-core'
import type { Page } from 'playwright-core'

const SOURCE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const OPTIONS: RunOptions = {
  runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'],
  // Of what passes nothing is asked, and no rule of these reads the style sheets themselves.
  resultTypes: ['violations'],
  preload: { assets: ['media'] },
}

/** Runs in the page. A function would have to be told the types of what is not imported there. */
const RUN = `axe.run(${JSON.stringify(OPTIONS)}).then(({ violations }) =>
  violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ target }) => target.join(' ')).join(', ')))`

/** Everything on this page that WCAG 2.2 AA forbids, a line for each rule. */
export async function violations(page: Page): Promise<string[]> {
  // Once, and in its short form: the source is most of what a look costs.
  await page.evaluate(SOURCE)
  return page.evaluate<string[]>(RUN)
}
