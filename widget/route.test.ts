import { expect, it } from 'vitest'
import { routeOf } from './route.ts'

const HASH = '0123456789abcdef0123456789abcdef'

it.each([
  ['/', { screen: 'landing' }],
  ['/help', { screen: 'help' }],
  ['/help/', { screen: 'help' }],
  ['/home', { screen: 'home' }],
  [`/deposit/${HASH}`, { screen: 'deposit', hash: HASH }],
  [`/deposit/${HASH}/`, { screen: 'deposit', hash: HASH }],
  [`/${HASH}`, { screen: 'deposit', hash: HASH }],
  ['/deposit/not-a-hash', { screen: 'deposit', hash: 'not-a-hash' }],
  ['/deposit', { screen: 'notFound' }],
  ['/deposit/a/b', { screen: 'notFound' }],
  [`/${HASH}0`, { screen: 'notFound' }],
  [`/${'g'.repeat(32)}`, { screen: 'notFound' }],
  ['/toString', { screen: 'notFound' }],
  ['/nothing/here', { screen: 'notFound' }],
])('A-001 A-002 A-003 A-120 %s', (path, route) => {
  expect(routeOf(path)).toEqual(route)
})
