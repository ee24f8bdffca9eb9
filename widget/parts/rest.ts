import { part } from './loaded-part.ts'

/** The code that every deposit needs besides the field for the trade link: its flow, its notices and its messages. */
export const rest = part('rest', () => import('../rest/rest.tsx'))
