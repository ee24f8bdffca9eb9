/** URLs of this machine. */

const ADDRESSES = new Map([
  ['localhost', '127.0.0.1'],
  ['127.0.0.1', '127.0.0.1'],
  ['[::1]', '::1'],
])

/** The address of the URL's host; undefined if it is not this machine. */
export const loopbackAddress = ({ hostname }: URL): string | undefined => ADDRESSES.get(hostname)

export const isLoopback = (url: URL): boolean => loopbackAddress(url) !== undefined
