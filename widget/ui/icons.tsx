/** Drawn icons. All are decoration: the words are next to them, or in the label of their button. */
import type { ReactNode } from 'react'
import type { Language } from '../../contract/languages.ts'

function Icon({ children, size = 18 }: { children: ReactNode; size?: number }) {
  return (
    <svg
      aria-hidden="true"
      width={size}
      height={size}
      viewBox="0 0 24 24"
      fill="none"
      stroke="currentColor"
      strokeWidth="2"
      strokeLinecap="round"
      strokeLinejoin="round"
    >
      {children}
    </svg>
  )
}

export const ReloadIcon = () => (
  <Icon>
    <path d="M20 11a8 8 0 1 0-2.3 5.7M20 5v6h-6" />
  </Icon>
)
export const SearchIcon = () => (
  <Icon>
    <circle cx="11" cy="11" r="6.5" />
    <path d="m20 20-4.2-4.2" />
  </Icon>
)
export const SortIcon = () => (
  <Icon>
    <path d="M7 5v14M3.5 15.5 7 19l3.5-3.5M17 19V5M13.5 8.5 17 5l3.5 3.5" />
  </Icon>
)
export const CloseIcon = () => (
  <Icon>
    <path d="M6 6l12 12M18 6 6 18" />
  </Icon>
)
export const TickIcon = ({ size = 14 }: { size?: number }) => (
  <Icon size={size}>
    <path d="m5 12.5 4.5 4.5L19 7.5" />
  </Icon>
)
export const WarningIcon = () => (
  <Icon>
    <path d="M12 4 2.8 19.5h18.4zM12 10v4.5M12 17.2v.1" />
  </Icon>
)
export const UpIcon = () => (
  <Icon size={14}>
    <path d="m6 15 6-6 6 6" />
  </Icon>
)
export const OutsideIcon = () => (
  <Icon size={14}>
    <path d="M9 5H5v14h14v-4M13 5h6v6M19 5l-8.5 8.5" />
  </Icon>
)
export const PlayIcon = () => (
  <Icon>
    <circle cx="12" cy="12" r="9" />
    <path d="m10 8.5 5.5 3.5-5.5 3.5z" />
  </Icon>
)
export const InfoIcon = () => (
  <Icon>
    <circle cx="12" cy="12" r="9" />
    <path d="M12 11v5M12 7.8v.1" />
  </Icon>
)
export const SoundOffIcon = () => (
  <Icon>
    <path d="M4 9.5v5h4l5 4v-13l-5 4zM17 9.5l4 5M21 9.5l-4 5" />
  </Icon>
)

export function Flag({ language }: { language: Language }) {
  return language === 'ru' ? (
    <svg aria-hidden="true" className="flag" viewBox="0 0 20 14">
      <path fill="#fff" d="M0 0h20v5H0z" />
      <path fill="#2456c9" d="M0 4.7h20v4.7H0z" />
      <path fill="#d52b1e" d="M0 9.3h20V14H0z" />
    </svg>
  ) : (
    <svg aria-hidden="true" className="flag" viewBox="0 0 20 14">
      <path fill="#fff" d="M0 0h20v14H0z" />
      <path
        stroke="#b22234"
        strokeWidth="1.1"
        d="M0 .5h20M0 2.7h20M0 4.9h20M0 7.1h20M0 9.3h20M0 11.5h20M0 13.6h20"
      />
      <path fill="#3c3b6e" d="M0 0h9v7.6H0z" />
      <path stroke="#fff" strokeWidth="1" strokeDasharray="1 1.6" d="M1 1.5h7.5M1.8 3.8h6M1 6h7.5" />
    </svg>
  )
}
