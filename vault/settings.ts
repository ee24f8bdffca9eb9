/** The vault's settings, from the environment variables that main.ts passes on. */
import { join } from 'node:path'
import { z } from 'zod'
import { unsafeDatabase } from '../contract/database-address.ts'

const schema = z.object({
  TRADETILL_MODE: z.enum(['sandbox', 'live']).default('sandbox'),
  TRADETILL_VAULT: z.string().min(1).optional(),
  TRADETILL_VAULT_DATABASE_URL: z.string().min(1).optional(),
  TRADETILL_STEAM_SANDBOX_URL: z.string().min(1).optional(),
  TRADETILL_MARKET_SANDBOX_URL: z.string().min(1).optional(),
  TRADETILL_STDIN: z.enum(['0', '1']).default('0'),
  TRADETILL_PLAIN_DATABASE: z.enum(['0', '1']).default('0'),
  NODE_DEBUG: z.string().optional(),
  NODE_TLS_REJECT_UNAUTHORIZED: z.string().optional(),
})

export type Settings = {
  mode: 'sandbox' | 'live'
  folder: string
  databaseUrl: string | undefined
  /** The Steam sandbox's URL. Undefined means the real Steam. */
  steamSandboxUrl: string | undefined
  /** The market sandbox's URL. Undefined means the real markets in live mode, and none in a sandbox. */
  marketSandboxUrl: string | undefined
  /** True if the vault ends when its standard input ends. */
  followsStdin: boolean
}

/** Throws with a readable reason. */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  // An empty variable counts as not set.
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const parsed = schema.safeParse(given)
  if (!parsed.success) throw new Error(z.prettifyError(parsed.error))
  const {
    TRADETILL_MODE: mode,
    TRADETILL_VAULT: folder,
    TRADETILL_STEAM_SANDBOX_URL: steamSandboxUrl,
  } = parsed.data
  if (mode === 'live' && steamSandboxUrl !== undefined) {
    throw new Error('TRADETILL_STEAM_SANDBOX_URL is refused in live mode: remove it.')
  }
  const marketSandboxUrl = parsed.data.TRADETILL_MARKET_SANDBOX_URL
  if (mode === 'live' && marketSandboxUrl !== undefined) {
    throw new Error('TRADETILL_MARKET_SANDBOX_URL is refused in live mode: remove it.')
  }
  if (mode === 'live' && parsed.data.NODE_DEBUG !== undefined) {
    throw new Error('NODE_DEBUG is refused in live mode: it prints calls with their tokens. Unset it.')
  }
  if (mode === 'live' && parsed.data.NODE_TLS_REJECT_UNAUTHORIZED === '0') {
    const why = 'anybody on the network could pose as Steam or a market'
    throw new Error(`NODE_TLS_REJECT_UNAUTHORIZED must not be 0 in live mode: ${why}. Unset it.`)
  }
  const databaseUrl = parsed.data.TRADETILL_VAULT_DATABASE_URL
  const isPlain = parsed.data.TRADETILL_PLAIN_DATABASE === '1'
  if (mode === 'live' && databaseUrl !== undefined && !isPlain) {
    const problem = unsafeDatabase(databaseUrl)
    if (problem !== undefined) throw new Error(`TRADETILL_VAULT_DATABASE_URL ${problem}.`)
  }
  if (mode === 'sandbox' && steamSandboxUrl === undefined) {
    throw new Error(
      'The vault needs TRADETILL_STEAM_SANDBOX_URL, or TRADETILL_MODE=live. Commands for the vault of npm start: npm run -s vault -- COMMAND.',
    )
  }
  if (mode === 'live' && folder === undefined) {
    throw new Error('The vault needs TRADETILL_VAULT: a folder of its own, which the gateway cannot read.')
  }
  return {
    mode,
    folder: folder ?? join(import.meta.dirname, '../.data/vault'),
    databaseUrl,
    steamSandboxUrl,
    marketSandboxUrl,
    followsStdin: parsed.data.TRADETILL_STDIN === '1',
  }
}
