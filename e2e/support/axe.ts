import { AxeBuilder } from '@axe-core/playwright'
import type { Page } from 'playwright-core'

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa']

/** Everything on this page that WCAG 2.2 AA forbids, a line for each rule. */
export async function violations(page: Page): Promise<string[]> {
  // No frames to go through, and of what passes nothing is asked: neither a second page nor its report is needed.
  const axe = new AxeBuilder({ page }).setLegacyMode().options({ resultTypes: ['violations'] })
  const { violations: found } = await axe.withTags(WCAG).analyze()
  return found.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(' ')).join(', ')}`)
}
