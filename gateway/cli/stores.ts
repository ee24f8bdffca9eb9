/** `store …` and `key …`. */
import { parseArgs } from 'node:util'
import { SCOPES, type Scope } from '../../contract/store-api.ts'
import { createSecretBox } from '../kit/secret-box.ts'
import { readBalances } from '../stores/account.ts'
import { addKey, isScope, type KeyFacts, listKeys, revokeKey, rotateKey } from '../stores/keys.ts'
import { createStore, updateStore } from '../stores/service.ts'
import { listEndpoints } from '../webhooks/endpoints.ts'
import { idOf, oneOf } from './arguments.ts'
import type { Context } from './commands.ts'
import { Refusal } from './terminal.ts'

const DOLLARS = /^\d{1,9}$/
const HOURS = /^\d{1,4}$/

const storeDeps = ({ config, db, clock }: Pick<Context, 'config' | 'db' | 'clock'>) => ({
  db,
  box: createSecretBox(config.masterKey),
  mode: config.mode,
  clock,
})

/** `none` gives the page its own colour back. */
const accentOf = (text: string | undefined): { accent?: string | null } =>
  text === undefined ? {} : { accent: text === 'none' ? null : text }

export async function addStore({ terminal, ...context }: Context, args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      name: { type: 'string' },
      origin: { type: 'string', multiple: true },
      'webhook-url': { type: 'string' },
      'risk-limit-usd': { type: 'string', default: '0' },
      'credit-mode': { type: 'string', default: 'on_accept' },
      liability: { type: 'string', default: 'operator' },
      accent: { type: 'string' },
      json: { type: 'boolean', default: false },
    },
  })
  const limit = values['risk-limit-usd']
  if (!DOLLARS.test(limit)) throw new Refusal('--risk-limit-usd takes whole dollars, such as 1000')
  const webhookUrl = values['webhook-url']
  const created = await createStore(storeDeps(context), {
    name: values.name ?? '',
    origins: values.origin ?? [],
    riskLimitUsdCents: BigInt(limit) * 100n,
    creditMode: oneOf(values['credit-mode'], ['on_accept', 'on_release'], '--credit-mode'),
    liability: oneOf(values.liability, ['operator', 'store'], '--liability'),
    ...accentOf(values.accent),
    ...(webhookUrl === undefined ? {} : { webhookUrl }),
  })
  if (created.kind === 'refused') throw new Refusal(created.reason)
  const { storeId, apiKey, webhookSecret } = created
  if (values.json) {
    terminal.print(JSON.stringify({ storeId: String(storeId), apiKey, webhookSecret }))
    return
  }
  terminal.print(`store ${storeId} created. What follows is shown only now:\n  API key         ${apiKey}`)
  if (webhookSecret !== null) terminal.print(`  webhook secret  ${webhookSecret}`)
}

export async function changeStore({ terminal, ...context }: Context, args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      id: { type: 'string' },
      origin: { type: 'string', multiple: true, default: [] },
      'webhook-url': { type: 'string' },
      accent: { type: 'string' },
    },
  })
  const webhookUrl = values['webhook-url']
  const addresses = { origins: values.origin, ...(webhookUrl === undefined ? {} : { webhookUrl }) }
  const changes = { ...addresses, ...accentOf(values.accent) }
  const updated = await updateStore(storeDeps(context), idOf(values.id, '--id'), changes)
  if (updated.kind === 'refused') throw new Refusal(updated.reason)
  terminal.print(`store ${values.id} updated`)
  if (updated.webhookSecret !== null) terminal.print(`  webhook secret  ${updated.webhookSecret}`)
}

/** A store with its keys, endpoints and balances; no secret is among them. */
export async function showStore({ db, terminal }: Context, [id]: string[]): Promise<void> {
  const storeId = idOf(id, 'STORE')
  const store = await db.selectFrom('store').selectAll().where('id', '=', storeId).executeTakeFirst()
  if (store === undefined) throw new Refusal(`there is no store ${storeId}`)
  terminal.print(`store ${storeId}: ${store.name}, since ${store.created_at.toISOString()}`)
  terminal.print(`  origins      ${store.origins.join(' ')}`)
  terminal.print(
    `  credit       ${store.credit_mode}, at risk up to ${Number(store.risk_limit_usd_cents) / 100} USD`,
  )
  terminal.print(`  reversals    borne by the ${store.liability}`)
  terminal.print(`  accent       ${store.accent ?? 'the page’s own'}`)
  for (const key of await listKeys(db, storeId)) terminal.print(`  key          ${keyLine(key)}`)
  for (const { id: endpoint, url, state, disabledReason } of await listEndpoints(db, storeId)) {
    const reason = disabledReason === null ? '' : ` (${disabledReason})`
    terminal.print(`  endpoint ${endpoint}   ${state}${reason} ${url}`)
  }
  for (const { currency, held, available, reversed } of (await readBalances(db, storeId)).balances) {
    terminal.print(
      `  ${currency}          available ${available}, held ${held}, reversed ${reversed} (minor units)`,
    )
  }
}

function keyLine({ id, name, scopes, lastUsedAt, expiresAt, revokedAt }: KeyFacts): string {
  const used = lastUsedAt === null ? 'never used' : `used ${lastUsedAt.toISOString()}`
  const end =
    revokedAt !== null
      ? `, revoked ${revokedAt.toISOString()}`
      : expiresAt === null
        ? ''
        : `, ends ${expiresAt.toISOString()}`
  return `${id} "${name}" ${scopes.join(' ')}, ${used}${end}`
}

export async function addStoreKey({ config, db, clock, terminal }: Context, args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: {
      store: { type: 'string' },
      name: { type: 'string', default: '' },
      scope: { type: 'string', multiple: true, default: [...SCOPES] },
    },
  })
  const storeId = idOf(values.store, '--store')
  if (values.name.length < 1 || values.name.length > 80)
    throw new Refusal('--name must have 1 to 80 characters')
  const scopes = values.scope.filter(isScope)
  if (scopes.length < values.scope.length) throw new Refusal(`--scope must be one of ${SCOPES.join(', ')}`)
  const store = await db.selectFrom('store').select('id').where('id', '=', storeId).executeTakeFirst()
  if (store === undefined) throw new Refusal(`there is no store ${storeId}`)
  const fresh = { storeId, name: values.name, scopes: [...new Set<Scope>(scopes)] }
  const deps = { mode: config.mode, clock }
  terminal.print(await db.transaction().execute((tx) => addKey(tx, deps, fresh)))
}

/** Prints the new key alone, so that it can be piped to where it belongs. */
export async function rotateStoreKey(
  { config, db, clock, terminal }: Context,
  args: string[],
): Promise<void> {
  const { values, positionals } = parseArgs({
    args,
    options: { 'overlap-hours': { type: 'string', default: '24' } },
    allowPositionals: true,
  })
  const overlap = values['overlap-hours']
  if (!HOURS.test(overlap)) throw new Refusal('--overlap-hours takes whole hours')
  const key = await rotateKey({ db, mode: config.mode, clock }, positionals[0] ?? '', Number(overlap))
  if (key === undefined) throw new Refusal('there is no such key that works; `store show` lists them')
  terminal.print(key)
}

export async function revokeStoreKey({ db, clock, terminal }: Context, [id = '']: string[]): Promise<void> {
  if (!(await revokeKey({ db, clock }, id))) throw new Refusal('there is no such key')
  terminal.print(`key ${id} works no more`)
}
