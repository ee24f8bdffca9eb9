/** Reads wishes from the till's database, and writes there what the vault did about each. */
import { z } from 'zod'
import type { Giving } from '../giving/book.ts'
import { MOST_ASSETS, type Wish } from '../giving/judge.ts'
import type { Wishes, WishReport } from '../giving/till-line.ts'
import type { Query } from '../till-database.ts'

/** The most wishes that one call reads. */
const MOST_WISHES = 50

const DIGITS = z.string().regex(/^\d{1,20}$/)
const lastRowSchema = z.object({ id: DIGITS })
const heldSchema = z.array(z.object({ isOpen: z.boolean() }))
const rowSchema = z
  .object({
    id: DIGITS,
    kind: z.enum(['send', 'return']),
    destination: z.string().nullable(),
    steamTradeId: DIGITS.nullable(),
    fromSteamId: DIGITS,
    assets: z
      .array(z.object({ appId: z.int().positive(), contextId: DIGITS, assetId: DIGITS }))
      .max(MOST_ASSETS + 1),
  })
  .transform((row, context): Wish => {
    const { id, fromSteamId, assets, kind, destination, steamTradeId } = row
    if (kind === 'send' && destination !== null)
      return { id, fromSteamId, assets, ask: { kind, to: destination } }
    if (kind === 'return' && steamTradeId !== null)
      return { id, fromSteamId, assets, ask: { kind, steamTradeId } }
    context.addIssue({ code: 'custom', message: 'not a wish' })
    return z.NEVER
  })

/**
 * The open wishes, beginning after wish `$4` and going round to the first; or only wish `$3`. Reads one item more than
 * a wish may have, so a wish that is too large is refused, and not cut short.
 */
const OPEN_WISHES = `select wish.id::text, wish.kind, left(wish.destination, 40) as destination,
    left(wish.steam_trade_id, 20) as "steamTradeId", bot.steam_id as "fromSteamId",
    (select coalesce(json_agg(json_build_object('appId', app_id, 'contextId', left(context_id, 20),
      'assetId', left(asset_id, 20))), '[]') from (
        select * from wish_item where wish_id = wish.id order by app_id, asset_id limit $2) item) as assets
  from wish join bot on bot.id = wish.bot_id
  left join vault_deed deed on deed.wish_id = wish.id
  where wish.closed_at is null and (deed.state is null or deed.state in ('waiting', 'intended', 'offered'))
    and ($3::bigint is null or wish.id = $3)
  order by wish.id <= $4, wish.id limit $1`

/** Ignores a row that is not a valid wish, because an attacker who controls the gateway may have written it. */
const wishesOf = (rows: readonly unknown[]): Wish[] =>
  rows.flatMap((row) => rowSchema.safeParse(row).data ?? [])

/** The number of a wish, as a person types it. */
const NUMBER = /^\d{1,18}$/

/** `now`: the till's time, which a sandbox can advance. `find`: resolves to an open wish, by its number. */
export function wishesIn(
  query: Query,
  now: () => Date,
): Wishes & { find(wishId: string): Promise<Wish | undefined> } {
  /** The last wish of the previous read. The next read continues after it, so waiting wishes never block later ones. */
  let lastRead = '0'
  return {
    async open() {
      const { rows } = await query(OPEN_WISHES, [MOST_WISHES, MOST_ASSETS + 1, null, lastRead])
      lastRead = lastRowSchema.safeParse(rows.at(-1)).data?.id ?? '0'
      return wishesOf(rows)
    },
    async find(wishId) {
      if (!NUMBER.test(wishId)) return undefined
      const { rows } = await query(OPEN_WISHES, [1, MOST_ASSETS + 1, wishId, '0'])
      return wishesOf(rows)[0]
    },
    // Does nothing if the wish is gone, as after a restore of the database. The till reads `intended` as a promise that
    // the wish stays open, so it is written only while the wish is locked and open.
    async report(wishId, report) {
      const mustBeOpen = 'giving' in report && report.giving.state === 'intended'
      const { state, because, partner, assets, offerId, steamTradeId } = deedOf(report)
      const { rows } = await query(
        `with held as (select hold_open_wish($1::bigint) as is_open),
         written as (
           insert into vault_deed (wish_id, state, because, partner_steam_id, assets, offer_id, steam_trade_id, at)
           select $1::bigint, $2, $3, $4, $5::text[], $6, $7, $8::timestamptz from held
           where is_open or (not $9::boolean and exists (select from wish where id = $1::bigint))
           on conflict (wish_id) do update set state = excluded.state, because = excluded.because,
             partner_steam_id = excluded.partner_steam_id, assets = excluded.assets, offer_id = excluded.offer_id,
             steam_trade_id = excluded.steam_trade_id, at = excluded.at
           where (vault_deed.state, vault_deed.because, vault_deed.offer_id, vault_deed.steam_trade_id)
             is distinct from (excluded.state, excluded.because, excluded.offer_id, excluded.steam_trade_id)
         )
         select is_open as "isOpen" from held`,
        [wishId, state, because, partner, assets, offerId, steamTradeId, now(), mustBeOpen],
      )
      return { isOpen: heldSchema.parse(rows).some(({ isOpen }) => isOpen) }
    },
  }
}

/**
 * The vault's report about a wish. `waiting`: not taken up yet, for the reason in `because`. `intended`: taken up, and
 * an offer may exist. `ended`: taken up, but nothing was given.
 */
type Deed = {
  state: 'waiting' | 'refused' | 'intended' | 'offered' | 'delivered' | 'ended'
  because: string | null
  partner: string | null
  assets: string[]
  offerId: string | null
  steamTradeId: string | null
}

const EMPTY_DEED: Deed = {
  state: 'waiting',
  because: null,
  partner: null,
  assets: [],
  offerId: null,
  steamTradeId: null,
}

function deedOf(report: WishReport): Deed {
  if ('waitsBecause' in report) return { ...EMPTY_DEED, because: report.waitsBecause }
  return deedOfGiving(report.giving)
}

function deedOfGiving(giving: Giving): Deed {
  if (giving.state === 'refused') return { ...EMPTY_DEED, state: 'refused', because: giving.because }
  const { partnerSteamId: partner, assets } = giving.intended
  const keys = assets.map(({ appId, assetId }) => `${appId}/${assetId}`).sort()
  const given = { ...EMPTY_DEED, partner, assets: keys }
  switch (giving.state) {
    case 'intended':
    case 'sending':
      return { ...given, state: 'intended' }
    case 'offered':
      return { ...given, state: 'offered', offerId: giving.offerId }
    case 'delivered':
      return { ...given, state: 'delivered', offerId: giving.offerId, steamTradeId: giving.steamTradeId }
    case 'ended':
      return { ...given, state: 'ended', because: giving.because }
    default:
      return giving satisfies never
  }
}
