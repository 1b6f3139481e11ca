import React from 'react';

interface ButtonProps {
  /** Text on the button. */
  label: string;
  /** How it looks. */
  kind?: 'primary' | 'quiet';
  disabled?: boolean;
  onPress: (event: React.MouseEvent) => void;
}

export function Button({ label, kind = 'primary', disabled = false, onPress }: ButtonProps) {
  return <button className={kind} disabled={disabled} onClick={onPress}>{label}</button>;
}
