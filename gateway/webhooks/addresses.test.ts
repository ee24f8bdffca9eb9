import { expect, it } from 'vitest'
import { isInsideAddress, isLoopbackAddress, isPublicAddress } from './addresses.ts'

it.each(['1.1.1.1', '93.184.216.34', '172.32.0.1', '2606:4700:4700::1111'])('%s is public', (address) => {
  expect(isPublicAddress(address)).toBe(true)
})

it.each([
  '0.0.0.0',
  '10.1.2.3',
  '100.64.0.1',
  '127.0.0.1',
  '127.9.9.9',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.168.1.1',
  '198.18.0.1',
  '224.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::ffff:127.0.0.1',
  '::ffff:8.8.8.8',
  '64:ff9b::7f00:1',
  'fc00::1',
  'fe80::1',
  'ff02::1',
  '2002:7f00:1::',
  '2001:db8::1',
  '192.0.0.1',
  '192.0.2.1',
  '192.88.99.1',
  '198.51.100.1',
  '203.0.113.1',
  '240.0.0.1',
  '2001::1',
  '2001:1ff::1',
  '3fff::1',
  '4000::1',
  'fec0::1',
  'fe80::1%eth0',
  '2606:4700:4700::1111%a-b',
  '::7f00:1',
  '::ffff:0:7f00:1',
  '64:ff9b:1::7f00:1',
  // Short, hexadecimal, octal and integer forms of 127.0.0.1 and 8.8.8.8.
  '127.1',
  '0x7f.0.0.1',
  '010.8.8.8',
  '134744072',
  'localhost',
  '',
])('%s is not public', (address) => {
  expect(isPublicAddress(address)).toBe(false)
})

it('only addresses of this machine are loopback', () => {
  expect(['127.0.0.1', '127.1.2.3', '::1'].map(isLoopbackAddress)).toEqual([true, true, true])
  expect(['10.0.0.1', '::', '::2', 'localhost'].map(isLoopbackAddress)).toEqual([false, false, false, false])
})

it.each(['127.0.0.1', '10.1.2.3', '192.168.1.1', '172.16.0.1', '100.64.0.1', '::1', 'fc00::1'])(
  '%s is inside the network',
  (address) => expect(isInsideAddress(address)).toBe(true),
)

it.each([
  '169.254.169.254',
  'fe80::1',
  '0.0.0.0',
  '::',
  '255.255.255.255',
  '224.0.0.1',
  '::ffff:10.0.0.1',
  '8.8.8.8',
  // Metadata services of Alibaba Cloud, AWS (in another notation, too) and Google Cloud.
  '100.100.100.200',
  'fd00:ec2::254',
  'fd00:0ec2:0:0::254',
  'fd20:ce::254',
])('%s is not inside the network', (address) => expect(isInsideAddress(address)).toBe(false))
