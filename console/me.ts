import { createContext } from 'react'
import type { OperatorRole } from '../contract/operators.ts'

export type Me = {
  name: string
  role: OperatorRole
  mode: 'sandbox' | 'live'
  /** True if signed in with the link that `npm start` prints, without a passkey. */
  isSandbox: boolean
  /** True if a passkey was shown recently enough for acts that need a fresh check, or if `isSandbox`. */
  isFresh: boolean
}

export const Me = createContext<Me>({
  name: '',
  role: 'viewer',
  mode: 'sandbox',
  isSandbox: false,
  isFresh: false,
})
