/** The store's account at its till. A real store installs `tradetill-sdk`; the demo uses the package's sources. */
import {
  createTill,
  type Deposit,
  type NewDeposit,
  type Till,
  TillProblem,
  verifyWebhook,
  type Webhook,
  WebhookRefused,
} from '../sdk/index.ts'

export type TillAccount = { url: string; apiKey: string; webhookSecret: string }

/** Returns a client of the till. It repeats a call only once, because a shopper waits for the answer. */
export const openTill = ({ url, apiKey }: TillAccount, fetcher: typeof fetch): Till =>
  createTill({ url, apiKey, tries: 2, longestWaitMs: 2_000, fetch: fetcher })

/** Opens a deposit. Resolves to undefined if the till cannot be reached or refuses; `report` gets the reason. */
export async function createDeposit(
  till: Till,
  wanted: NewDeposit,
  report: (problem: string) => void,
): Promise<Deposit | undefined> {
  try {
    return await till.createDeposit(wanted)
  } catch (error) {
    if (error instanceof TillProblem) report(`the till refused a deposit: ${error.status} ${error.code}`)
    else report(`the till does not answer: ${error instanceof Error ? error.message : 'unknown error'}`)
    return undefined
  }
}

/** Verifies and reads a webhook. Returns undefined if a header, the time or the signature is wrong. */
export async function readWebhook(
  { webhookSecret: secret }: TillAccount,
  headers: Record<string, string | string[] | undefined>,
  body: string,
): Promise<Webhook | undefined> {
  try {
    return await verifyWebhook({ secret, headers, body })
  } catch (error) {
    if (error instanceof WebhookRefused) return undefined
    throw error
  }
}
