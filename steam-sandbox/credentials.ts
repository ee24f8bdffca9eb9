import { createHash, createHmac } from 'node:crypto'
import type { Account } from './world/world.ts'

/** The characters of an authenticator's codes. */
const LETTERS = '23456789BCDFGHJKMNPQRTVWXY'
/** How long the authenticator shows a code. */
const STEP_S = 30

export type Credentials = {
  accountName: string
  password: string
  sharedSecret: string
  /** The authenticator's secret for confirming offers that give items away. */
  identitySecret: string
}

/** The credentials of a sandbox account. They are public, because they open nothing but the sandbox. */
export function credentialsOf({ name, steamId }: Account): Credentials {
  const accountName = name.toLowerCase().replace(/[^a-z0-9]+/g, '_')
  const secretOf = (what: string) =>
    createHmac('sha1', `steam-sandbox: ${what}`).update(steamId).digest('base64')
  return {
    accountName,
    password: `password of ${accountName}`,
    sharedSecret: secretOf('authenticator'),
    identitySecret: secretOf('identity'),
  }
}

/** The device id of the phone, which the libraries derive from the account. */
export function deviceIdOf({ steamId }: Account): string {
  const hex = createHash('sha1').update(steamId).digest('hex')
  const parts = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20, 32)]
  return `android:${parts.join('-')}`
}

/** True if the authenticator shows this code now, or half a minute earlier or later. */
export function isCodeOf(sharedSecret: string, code: string, timeS: number): boolean {
  return [-1, 0, 1].some((step) => codeAt(sharedSecret, Math.floor(timeS / STEP_S) + step) === code)
}

export function codeOf(sharedSecret: string, timeS: number): string {
  return codeAt(sharedSecret, Math.floor(timeS / STEP_S))
}

function codeAt(sharedSecret: string, step: number): string {
  const counter = Buffer.alloc(8)
  counter.writeBigUInt64BE(BigInt(step))
  const digest = createHmac('sha1', Buffer.from(sharedSecret, 'base64')).update(counter).digest()
  let rest = digest.readUInt32BE((digest[19] ?? 0) & 15) & 0x7fffffff
  return Array.from({ length: 5 }, () => {
    const letter = LETTERS[rest % LETTERS.length]
    rest = Math.floor(rest / LETTERS.length)
    return letter
  }).join('')
}
