"""Which wire is on which GPIO of the Pico: plain numbers for the board, the simulator and the wiring guide.

Inputs are active high after the board's own conditioning: 1 means what the name says.
"""

# Link to the station: UART0 on the header.
UART_TX = 0  # to the station's RX
UART_RX = 1  # from the station's TX

# Sensors.
HOPPER = 2  # sheets lie in the hopper
ENTRY = 3  # a sheet covers the entry, behind the pick roller
CAMERA = 4  # a sheet's leading edge has reached the far end of the camera bed
EXIT_COUNTED = 5  # a sheet passes into the counted bin
EXIT_SET_ASIDE = 6  # a sheet passes into the set-aside bin
EXIT_NOT_ACCEPTED = 7  # a sheet passes into the not-accepted tray
DOUBLE_FEED = 8  # more than one thickness of paper at the entry
COVER_OPEN = 9  # a cover of the paper path is open
STOP_BUTTON = 10  # the emergency stop is pressed; it also cuts motor power in hardware

# Outputs.
PICK_STEP = 14  # step pulses of the pick roller
TRANSPORT_STEP = 15  # step pulses of the transport rollers
TRANSPORT_REVERSE = 16  # 1: the transport runs towards the entry
MOTOR_ENABLE = 17  # 0 takes the current off both motors
DIVERTER_A = 18  # diverter flap: A B = 0 0 counted, 1 0 set aside, 0 1 not accepted
DIVERTER_B = 19  # see DIVERTER_A
LAMP = 20  # lights the camera bed

STEPS_PER_MM = 10
"""Step pulses for a millimetre of paper, both motors."""
