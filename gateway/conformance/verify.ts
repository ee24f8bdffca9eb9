/** Tests a store's webhook handler with genuine, forged, late and broken-off calls, and reports its mistakes. */
import type { Clock } from '../kit/clock.ts'
import { createBalanceReader } from './balance.ts'
import type { Check } from './check.ts'
import { FORGERY_CHECKS } from './forgery-checks.ts'
import { createHandlerClient, describeReply, reasonOfSilence } from './handler-client.ts'
import { createKit, failed, incomplete, type Kit, type Patience, type Verdict } from './kit.ts'
import { MONEY_CHECKS } from './money-checks.ts'
import { type StandInTill, startStandInTill } from './stand-in-till.ts'
import { createStoreOrders } from './store-orders.ts'
import { TROUBLE_CHECKS } from './trouble-checks.ts'

export const CHECKS: readonly Check[] = [...MONEY_CHECKS, ...FORGERY_CHECKS, ...TROUBLE_CHECKS]

export type Options = {
  url: URL
  secret: string
  clock: Clock
  /** `customerReference` of the invented deposits. It replaces `{CUSTOMER}` in the addresses `balance` and `open`. */
  customer: string
  balance?: string | undefined
  /** The port of the stand-in till, which the store uses as its till during the checks. */
  tillPort?: number | undefined
  /** A POST to this address makes the store open a deposit. Needs `tillPort`. */
  open?: string | undefined
  /** The names of the checks to run; all by default. With `open`, checks that need invented orders are left out. */
  only?: readonly string[] | undefined
  patience?: Partial<Patience & { deadlineMs: number }>
}

export type CheckResult = { check: string; title: string; document: string; detail: string | null } & {
  result: Verdict['kind']
}

/**
 * `unreachable`: the handler did not answer. `unreadable`: the address of the balance returned no amount. `no_port`:
 * the stand-in till cannot use its port.
 */
export type VerifyResult =
  | { kind: 'checked'; results: CheckResult[] }
  | { kind: 'unreachable' | 'unreadable' | 'no_port'; reason: string }

/** Suits a store that credits some time after its answer, and reads the event log once a minute. */
const PATIENCE = { settleMs: 3_000, quietMs: 200, reconcileMs: 90_000, deadlineMs: 15_000 }

export async function verifyHandler(options: Options): Promise<VerifyResult> {
  const { url, secret, clock, customer, tillPort, open: openUrl, only } = options
  const patience = { ...PATIENCE, ...options.patience }
  const balance = options.balance === undefined ? undefined : createBalanceReader(options.balance, customer)
  const isForCustomer = options.balance?.includes('{CUSTOMER}') ?? false
  const orders = createStoreOrders({ url: openUrl ?? '', customer, isForCustomer, clock })
  let till: StandInTill | undefined
  try {
    if (tillPort !== undefined) {
      till = await startStandInTill({ port: tillPort, openDeposit: orders.openDeposit })
    }
  } catch (error) {
    return { kind: 'no_port', reason: reasonOfNoPort(tillPort, error) }
  }
  const open = till === undefined || openUrl === undefined ? undefined : orders.makeStoreOpen
  try {
    const handlerClient = createHandlerClient(url, patience.deadlineMs)
    const kit = createKit({
      handlerClient,
      secret,
      clock,
      customer,
      patience,
      balance,
      till,
      openDeposit: open,
    })
    const problem = await firstProblem(kit, url)
    if (problem !== undefined) return problem
    const results: CheckResult[] = []
    for (const check of CHECKS) {
      const isSelected = only === undefined || only.includes(check.name)
      if (isSelected && (open === undefined || check.inventedOrdersOnly !== true))
        results.push(await resultOf(check, kit))
    }
    return { kind: 'checked', results }
  } finally {
    await till?.close()
  }
}

function reasonOfNoPort(port: number | undefined, error: unknown): string {
  const isTaken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE'
  const why = isTaken ? 'is taken: choose a free one' : `cannot be used: ${reasonOfSilence(error)}`
  return `--till: port ${port} ${why}.`
}

/** Any answer to it shows that the handler is alive. */
const UNSIGNED = { headers: {}, body: '{}' }

/** Refuses to run if the handler or the balance is unreachable: that is no finding about the handler. */
async function firstProblem(kit: Kit, url: URL): Promise<VerifyResult | undefined> {
  const reply = await kit.handlerClient.send(UNSIGNED)
  if (reply.kind === 'silent')
    return { kind: 'unreachable', reason: `${url.href} cannot be reached: ${reply.reason}` }
  try {
    await kit.balance?.('USD')
    return undefined
  } catch (error) {
    return { kind: 'unreadable', reason: reasonOfSilence(error) }
  }
}

/** The end of a check, such as a call that is broken off, can kill a handler whose answers were right. */
async function failureIfDead({ handlerClient }: Kit): Promise<Verdict | undefined> {
  const reply = await handlerClient.send(UNSIGNED)
  return reply.kind === 'silent' ? failed(`after the check ${describeReply(reply)}`) : undefined
}

async function resultOf({ name, title, document, run }: Check, kit: Kit): Promise<CheckResult> {
  const judged = await run(kit).catch((error: unknown) => incomplete(reasonOfSilence(error)))
  const verdict = judged.kind === 'failed' ? judged : ((await failureIfDead(kit)) ?? judged)
  const detail = verdict.kind === 'passed' ? null : verdict.detail
  return { check: name, title, result: verdict.kind, detail, document: `docs/${document}` }
}
