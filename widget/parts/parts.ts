/** The parts of a deposit's page whose code comes after the page. */
import { addressesOf, loadStyles } from './loaded-again.ts'
import { createPart, type Part } from './part.ts'

/** What a deposit needs besides the field for the trade link: its flow, its notices and its messages. */
export const rest = part('rest', () => import('../rest/rest.tsx'))

/** Where to find the trade link. */
export const guide = part('guide', () => import('../link/guide.tsx'))

/** The items, their controls and what they come to. */
export const stand = part('stand', () => import('../inventory/stand.tsx'))

export const dialogs = part('dialogs', () => import('../modals/modals.tsx'))

/** A failed import is answered from the browser's memory until the page is left, so later attempts have addresses of their own. */
function part<Code>(name: string, first: () => Promise<Code>): Part<Code> {
  return createPart(async (attempt) => {
    const again = attempt === 1 ? null : addressesOf(document.documentElement.dataset[name], attempt)
    if (again === null) return first()
    await Promise.all(again.styles.map(loadStyles))
    return import(/* @vite-ignore */ again.script)
  })
}
