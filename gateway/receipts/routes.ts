import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { FastifyPluginAsync } from 'fastify'
import { acceptedLanguage, isLanguage, type Language } from '../../contract/languages.ts'
import { NOBODY } from '../../contract/steam-id.ts'
import type { StoreDeposit } from '../../contract/store-api.ts'
import type { DepositEvent } from '../../contract/webhooks.ts'
import type { Config } from '../config.ts'
import type { Db } from '../db/client.ts'
import type { EndReason } from '../deposits/deposit.ts'
import { wayBack } from '../deposits/origins.ts'
import { isReceiptOf, readReceiptName } from '../deposits/receipt-link.ts'
import { withShownTrade } from '../deposits/store-deposit.ts'
import { findDeposit, type NumberedDeposit, type ViewRow, viewRowsOf } from '../deposits/view-store.ts'
import { readDepositEvents } from '../events/store.ts'
import { refuse, refuseIfUnable, type UnableReason } from '../http/refusal.ts'
import type { Clock } from '../kit/clock.ts'
import { createLimiter } from '../kit/limiter.ts'
import { expiredPage, RECEIPT_HEADERS, type Receipt, receiptPage, refusedPage, TIMES_PATH } from './page.ts'
import { storeAddress } from './store-address.ts'

type ReceiptDeps = {
  db: Db
  clock: Clock
  config: Pick<Config, 'publicUrl'> & { keep: Pick<Config['keep'], 'pagesMs'> }
  /** Why the gateway can serve no receipt now; undefined if it can. */
  unableReason(): UnableReason | undefined
}

/** Receipts use at most this many database connections, because anybody can request a receipt. */
const LOOKUPS_AT_A_TIME = 2
/** At most this many requests wait for a connection. Further ones are refused. */
const MOST_WAITING = 200
const FULL_RETRY_S = 1

const TIMES = readFileSync(join(import.meta.dirname, 'times.js'))
const HOUR_S = 3_600

/**
 * GET /receipt/NAME: a page for people, so refusals are pages too. An unknown name counts as a guess, and callers with
 * too many guesses are refused.
 */
export function receiptRoute(deps: ReceiptDeps): FastifyPluginAsync {
  const lookUp = createLimiter(LOOKUPS_AT_A_TIME, MOST_WAITING)
  return async (app) => {
    app.get(TIMES_PATH, (_request, reply) =>
      reply
        .headers({ 'content-type': 'text/javascript; charset=utf-8', 'cache-control': `max-age=${HOUR_S}` })
        .send(TIMES),
    )
    app.get<{ Params: { name: string }; Querystring: { lang?: unknown } }>(
      '/receipt/:name',
      {
        // A refusal keeps its status, and becomes a page. 410 has its own page.
        onSend: async ({ query, headers }, reply, payload) => {
          const { statusCode: status } = reply
          if (status < 400 || status === 410) return payload
          const language = languageOf(query.lang, headers['accept-language'], null)
          reply.headers(RECEIPT_HEADERS).type('text/html; charset=utf-8')
          return refusedPage(status, language)
        },
      },
      async (request, reply) => {
        refuseIfUnable(deps.unableReason())
        if (lookUp.isFull()) refuse('overloaded', { retryAfterS: FULL_RETRY_S })
        const found = await lookUp(() => findReceipt(deps, request.params.name))
        if (found === undefined) refuse('deposit_not_found')
        const language = languageOf(request.query.lang, request.headers['accept-language'], found.language)
        reply.headers(RECEIPT_HEADERS).type('text/html; charset=utf-8')
        if (found.receipt === null) return reply.code(410).send(expiredPage(found.id, language))
        return reply.send(receiptPage(found.receipt, { language, now: deps.clock.now() }))
      },
    )
  }
}

function languageOf(chosen: unknown, accepted: string | undefined, ofDeposit: Language | null): Language {
  if (isLanguage(chosen)) return chosen
  return ofDeposit ?? acceptedLanguage(accepted)
}

type Found = { id: string; language: Language | null; receipt: Receipt | null }

/** Returns undefined if no deposit has the name. `receipt` is null if the deposit is too old. */
async function findReceipt({ db, config }: ReceiptDeps, text: string): Promise<Found | undefined> {
  const shownMs = config.keep.pagesMs
  const name = readReceiptName(text)
  if (name === undefined) return undefined
  const row = await findDeposit(db, { depositId: BigInt(name.depositId) })
  if (row === undefined || !isReceiptOf(name, row.hash)) return undefined
  const [view] = await viewRowsOf(db, [row.hash], shownMs)
  if (view === undefined) return undefined
  const about = { id: String(row.id), language: row.language }
  if (view.is_old) return { ...about, receipt: null }
  const deposit = await withShownTrade(db, row, config.publicUrl.origin)
  const events = await readDepositEvents(db, row.id)
  return { ...about, receipt: receiptOf(row, { deposit, view, events, shownMs }) }
}

type Facts = { deposit: StoreDeposit; view: ViewRow; events: readonly DepositEvent[]; shownMs: number }

function receiptOf(row: NumberedDeposit, { deposit, view, events, shownMs }: Facts): Receipt {
  const {
    status,
    endReason: reason,
    currency,
    amount,
    heldAmount,
    heldUntil,
    reversedAmount,
    createdAt,
  } = deposit
  // Steam may have reported another end before it held the items. The receipt names the hold instead, because it keeps
  // the items from their owner.
  const isHeldBySteam = status !== 'succeeded' && view.steam_hold_until !== null
  return {
    id: deposit.id,
    storeName: view.store_name,
    status: isHeldBySteam ? 'tradeHasInvalidItems' : status,
    reason: isHeldBySteam ? ('escrow' satisfies EndReason) : reason,
    currency,
    amount,
    storeUrl: storeAddress(wayBack(row.back_to_store_url, view.store_origins)),
    heldAmount,
    heldUntil,
    reversedAmount,
    createdAt,
    offerId: deposit.trade?.steamOfferId ?? null,
    botName: view.bot_name,
    account: accountOf(row, deposit.trade?.partnerSteamId ?? NOBODY),
    items: (deposit.trade?.items ?? []).map(
      ({ name, marketHashName: marketName, phase, price, reversed }) => ({
        name,
        marketName,
        phase,
        price,
        reversed,
      }),
    ),
    history: events.map(({ type, timestamp: at, data }) => ({ type, at, credit: data })),
    keptUntil: new Date(row.expires_at.getTime() + shownMs),
  }
}

/** The stored name is that of the account in the deposit's current link, which may not be the trade's account. */
function accountOf({ user_steam_id, user_name }: NumberedDeposit, steamId: string): Receipt['account'] {
  if (steamId === NOBODY) return null
  return { steamId, name: user_steam_id === steamId ? user_name : null }
}
