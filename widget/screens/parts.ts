/** The parts of a deposit's page whose code comes after the page. */
import type { Propose } from '../flow/calls.ts'
import { addressesOf, loadStyles } from '../ui/loaded-again.ts'
import { createPart } from '../ui/on-demand.ts'

/** The items, their controls and what they come to. */
export const stand = createPart(async (attempt) => {
  const code = await load('stand', attempt, () => import('../inventory/stand.tsx'))
  proposer = code.propose
  return code.Stand
})

let proposer: Propose | null = null

/** Proposes items for an amount; null before the items' code is here. */
export const currentProposer = (): Propose | null => proposer

/** Where to find the trade link. */
export const guide = createPart(
  async (attempt) => (await load('guide', attempt, () => import('../link/guide.tsx'))).Guide,
)

export const modals = createPart(
  async (attempt) => (await load('dialogs', attempt, () => import('../modals/modals.tsx'))).Modals,
)

/** A failed import is answered from the browser's memory until the page is left, so later attempts have addresses of their own. */
async function load<Code>(
  name: 'guide' | 'stand' | 'dialogs',
  attempt: number,
  first: () => Promise<Code>,
): Promise<Code> {
  const again = attempt === 1 ? null : addressesOf(document.documentElement.dataset[name], attempt)
  if (again === null) return first()
  await Promise.all(again.styles.map(loadStyles))
  return import(/* @vite-ignore */ again.script)
}
