/** The store's side of Tradetill, for Node and edge runtimes. It needs fetch and Web Crypto, but no packages. */
export { type CreditStore, catchUp, type Kept, type Settled, settle, takeOnce } from './books.ts'
export { createTill, type EventOptions, type Till, type TillOptions } from './client.ts'
export { TillProblem, TillUnreachable } from './problem.ts'
export type { Deposit, Event as TillEvent, NewDeposit, Problem } from './types.ts'
export {
  type DepositEvent,
  isOfDeposit,
  isTest,
  type Signed,
  verifyWebhook,
  type Webhook,
  WebhookRefused,
} from './webhook.ts'
