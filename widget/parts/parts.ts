/** The parts of a deposit's page whose code loads after the page, except `rest` in rest.ts. */
import { part } from './loaded-part.ts'

export const guide = part('guide', () => import('../link/guide.tsx'))

export const stand = part('stand', () => import('../inventory/stand.tsx'))

export const dialogs = part('dialogs', () => import('../modals/modals.tsx'))
