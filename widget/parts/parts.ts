/** The parts of a deposit's page whose code comes after the page. */
import { part } from './loaded-part.ts'

/** Where to find the trade link. */
export const guide = part('guide', () => import('../link/guide.tsx'))

/** The items, their controls and what they come to. */
export const stand = part('stand', () => import('../inventory/stand.tsx'))

export const dialogs = part('dialogs', () => import('../modals/modals.tsx'))
