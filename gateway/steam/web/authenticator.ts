/// <reference path="./libraries.d.ts" />
import { generateAuthCode } from 'steam-totp'

/** The code that the Steam authenticator with this shared secret shows now. */
export function authenticatorCode(sharedSecret: string): string {
  return generateAuthCode(sharedSecret)
}
